# SPDX-License-Identifier: Apache-2.0
"""A command asks about hosts: the connection waits, nobody outside hears of the name before the operator said yes.

usage: hosts_test.py HARN    in a network of its own, where every address leads to servers of the test
"""
import json
import os
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "network"))
import ask_test  # noqa: E402
import ground  # noqa: E402

PUBLIC, ALIAS = "203.0.114.7", "203.0.114.8"
DIAL = """
import socket, sys
host, port, tag = sys.argv[1], int(sys.argv[2]), sys.argv[3]
try:
    s = socket.create_connection((host, port), 30)
    s.sendall(tag.encode())
    print(s.recv(100).decode(), end="")
except OSError as error:
    print("failed", type(error).__name__)
"""


class Hosts(ask_test.Suite):
    def __init__(self, harn):
        super().__init__(harn)
        self.environment["HARN_EGRESS_RESOLVER"] = "127.0.0.1"
        self.resolver = ground.Resolver({"asked.test": [[PUBLIC]], "other.test": [[ALIAS]], "inside.test": [["10.0.0.1"]], "named.test": [[PUBLIC]]})
        self.victim = ground.Victim(tcp=(80, 443, 8443))
        self.file("dial.py", DIAL, self.project)

    def dial(self, host, port, tag):
        return f"python3 dial.py {host} {port} {tag}; "

    def answers(self):
        ran = subprocess.run(self.words([], self.dial("asked.test", 443, "control")), cwd=self.project, env=self.environment, capture_output=True, text=True, check=False)
        self.expect("control: without a question it is refused", "failed" in ran.stdout and "control" not in self.victim.tags, ran)
        operator, ran = self.ask(lambda q: "once", self.dial("asked.test", 443, "a1") + self.dial("asked.test", 443, "a2"))
        self.expect("once is one connection", "echo a1" in ran.stdout and "echo a2" in ran.stdout and len(operator.questions) == 2, ran, operator.questions)
        asked = operator.questions[0]
        self.expect("the question names host and port", asked["access"] == "host" and asked["target"] == "asked.test:443", asked)
        operator, ran = self.ask(lambda q: "run", self.dial("asked.test", 443, "b1") + self.dial("asked.test", 443, "b2"))
        self.expect("for this run is asked once", ran.stdout.count("echo b") == 2 and len(operator.questions) == 1, ran, operator.questions)
        operator, ran = self.ask(lambda q: "run" if q["target"].endswith(":443") else "deny", self.dial("asked.test", 443, "c1") + self.dial("asked.test", 80, "c2"))
        self.expect("a yes to one port is none to another", "c1" in self.victim.tags and "c2" not in self.victim.tags, ran, operator.questions)
        operator, ran = self.ask(lambda q: "run", self.dial(PUBLIC, 443, "d1"))
        self.expect("an address is asked about as one", "echo d1" in ran.stdout and operator.questions[0]["target"] == f"{PUBLIC}:443", ran, operator.questions)
        operator, ran = self.ask(lambda q: "deny", self.dial("named.test", 443, "e1"), ["--allow-host", "named.test:443"])
        self.expect("what the policy names is not asked about", "echo e1" in ran.stdout and not operator.questions, ran, operator.questions)
        operator, ran = self.ask(lambda q: "run", self.dial("asked.test", 443, "f1"), ["--net", "restricted"])
        self.expect("restricted without a host is all questions", "echo f1" in ran.stdout, ran, operator.questions)

    def refusals(self):
        self.resolver.asked.clear()
        operator, ran = self.ask(lambda q: "deny", self.dial("other.test", 443, "n1") + self.dial("other.test", 443, "n2"), ["--json"])
        self.expect("no is no, and asked once", "n1" not in self.victim.tags and "n2" not in self.victim.tags and len(operator.questions) == 1, ran, operator.questions)
        self.expect("nobody outside heard of the name", "other.test" not in self.resolver.asked, self.resolver.asked)
        denied = [d for d in json.loads(ran.stdout)["denials"] if d["target"] == "other.test:443"]
        self.expect("and it is a denial with its flag", denied and denied[0]["remedy"] == "--allow-host other.test:443", ran.stdout)
        operator, ran = self.ask(lambda q: None, self.dial("other.test", 443, "t1"), timeout="1s")
        self.expect("nobody's answer is a no", "t1" not in self.victim.tags and [w["why"] for w in operator.withdrawn] == ["timed out"], ran, operator.withdrawn)
        operator, ran = self.ask(lambda q: "run", self.dial("inside.test", 443, "p1"))
        self.expect("a yes to a name is none to a private address behind it", operator.questions and "p1" not in self.victim.tags, ran, operator.questions)
        operator, ran = self.ask(lambda q: "run", self.dial("10.0.0.1", 443, "p2") + self.dial("169.254.169.254", 80, "p3"))
        self.expect("addresses that are not public are not asked about", not operator.questions and not {"p2", "p3"} & set(self.victim.tags), ran, operator.questions)
        operator, ran = self.ask(lambda q: "run", self.dial("other.test", 443, "x1"), ["--net", "none"])
        self.expect("none is none", not operator.questions and "x1" not in self.victim.tags, ran, operator.questions)
        self.environment["HARN_EGRESS_DENY"] = "other.test"
        operator, ran = self.ask(lambda q: "run", self.dial("other.test", 443, "x2"))
        self.expect("what the operator denied is not asked about", not operator.questions and "x2" not in self.victim.tags, ran, operator.questions)
        del self.environment["HARN_EGRESS_DENY"]

    def waiting(self):
        arrived, path = [], self.socket_path()
        operator = ask_test.Operator(path, arrived.append)
        script = self.dial("asked.test", 443, "w1").rstrip("; ") + " & " + self.dial("named.test", 443, "w2") + "echo free > here; wait"
        run = subprocess.Popen(self.words([f"--ask={path}", "--allow-host", "named.test:443"], script), cwd=self.project, env=self.environment,
                               stdout=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
        deadline = time.time() + ask_test.PATIENCE
        while (not arrived or not os.path.exists(self.project + "/here")) and time.time() < deadline:
            time.sleep(0.02)
        self.expect("one connection waits, others do not", arrived and "w2" in self.victim.tags and "w1" not in self.victim.tags, arrived)
        operator.say(arrived[0], "once")
        self.expect("and gets its answer", "echo w1" in run.communicate(timeout=ask_test.PATIENCE)[0], run.returncode)
        operator, ran = self.ask(lambda q: None, "timeout -s KILL 1 python3 -c \"import socket; socket.create_connection(('asked.test', 443)).recv(1)\"; sleep 1; echo end")
        self.expect("a question whose asker is gone is taken back", operator.withdrawn and "gone" in operator.withdrawn[0]["why"] and "end" in ran.stdout, ran, operator.withdrawn)
        operator, ran = self.ask(lambda q: "run", "printf 'CONNECT asked.test:8443 HTTP/1.1\\r\\n\\r\\nq1' > said; python3 -c \""
                                 "import socket; s = socket.create_connection(('127.0.0.1', 3128)); s.sendall(open('said','rb').read()); print(s.recv(200))\"")
        self.expect("whoever uses the proxy is asked for too, at every port", "200" in ran.stdout and operator.questions[0]["target"] == "asked.test:8443", ran, operator.questions)

    def policy(self):
        policy = self.file("net.toml", f'workspace_roots = ["{self.project}"]\nside_effect_level = "network"\n')
        operator, ran = self.ask(lambda q: "policy", self.dial("asked.test", 443, "k1"), ["--policy", policy])
        text = open(policy, encoding="utf-8").read()
        self.expect("into the policy is offered and written", operator.questions and "policy" in operator.questions[0]["answers"] and "asked.test" in text, ran, text)
        ran = subprocess.run(self.words(["--policy", policy], self.dial("asked.test", 443, "k2")), cwd=self.project, env=self.environment, capture_output=True, text=True, check=False)
        self.expect("the next run needs no question", "echo k2" in ran.stdout, ran)
        closed = self.file("closed.toml", f'workspace_roots = ["{self.project}"]\nside_effect_level = "process_exec"\nnetwork = {{}}\n')
        operator, ran = self.ask(lambda q: "run", self.dial("asked.test", 443, "k3"), ["--policy", closed])
        self.expect("a policy without network stays without", not operator.questions and "k3" not in self.victim.tags, ran, operator.questions)

    def check(self):
        for part in (self.answers, self.refusals, self.waiting, self.policy):
            part()
        return self.failed


def main():
    ground.enter()
    suite = Hosts(sys.argv[1])
    try:
        return 1 if suite.check() else 0
    finally:
        shutil.rmtree(suite.place, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
