# SPDX-License-Identifier: Apache-2.0
"""Hosts are learned by name and port; addresses that are not public are not, unless somebody says yes.

usage: learn_test.py HARN
"""
import os
import sys

import ground

PUBLIC, PRIVATE, METADATA = "93.184.216.35", "10.1.2.3", "169.254.169.254"
SAY = """
import socket, sys
for host, port in [word.split("=") for word in sys.argv[1:]]:
    with socket.create_connection((host, int(port)), timeout=5) as s:
        s.sendall(b"hello")
        sys.exit(0 if s.recv(100).startswith(b"echo") else 1)
"""


class Suite:
    def __init__(self, harn):
        self.place = ground.Place(harn)
        self.failed = 0
        with open(self.place.project + "/say.py", "w", encoding="ascii") as file:
            file.write(SAY)

    def expect(self, what, is_so, shown):
        print(("ok      " if is_so else "FAILED  ") + what)
        if not is_so:
            self.failed += 1
            print(shown)

    def learn(self, flags, *words):
        file = self.place.path + "/kept.toml"
        if os.path.exists(file):
            os.remove(file)
        ran = self.place.run([self.place.harn, "learn", "-o", file, *flags, "--", "/usr/bin/python3", "say.py", *words])
        with open(file, encoding="utf-8") as text:
            return ran, text.read()

    def check(self):
        control = self.place.run(["/usr/bin/python3", "say.py", "good.test=7001"])
        ran, policy = self.learn([], "good.test=7001")
        shown = (control, ran, policy)
        self.expect("a name is learned with its port", ran.returncode == 0 and '"good.test:7001"' in policy, shown)
        self.expect("the policy lets it through", self.run_learned("good.test=7001").returncode == 0, shown)
        self.expect("and to no other port", self.run_learned("good.test=7002").returncode != 0, shown)
        self.expect("and to nobody else", self.run_learned("other.test=7001").returncode != 0, shown)
        for name, address in (("inside.test", PRIVATE), ("cloud.test", METADATA)):
            ran, policy = self.learn([], f"{name}=7001")
            self.expect(f"{address} is left out and said", ran.returncode == 1 and f"--yes-for {address}:7001" in ran.stderr, (ran, policy))
            self.expect(f"{address} is not granted", address not in policy.split("\n\n", 1)[1], (ran, policy))
        ran, policy = self.learn([], f"{PRIVATE}=7001")
        self.expect("an address of one's own network is left out", ran.returncode == 1 and f"--yes-for {PRIVATE}:7001" in ran.stderr, (ran, policy))
        ran, policy = self.learn(["--yes-for", f"{PRIVATE}:7001"], f"{PRIVATE}=7001")
        self.expect("a yes grants it", ran.returncode == 0 and f"{PRIVATE}:7001" in policy, (ran, policy))
        return self.failed

    def run_learned(self, *words):
        return self.place.harn_run(["--policy", self.place.path + "/kept.toml"], ["/usr/bin/python3", "say.py", *words])


def main():
    ground.enter()
    ground.Victim(tcp=(7001, 7002))
    ground.Resolver({"good.test": [[PUBLIC]], "other.test": [[PUBLIC]], "inside.test": [[PRIVATE]], "cloud.test": [[METADATA]]}, ttl=60)
    suite = Suite(sys.argv[1])
    try:
        return 1 if suite.check() else 0
    finally:
        suite.place.remove()


if __name__ == "__main__":
    sys.exit(main())
