# SPDX-License-Identifier: Apache-2.0
"""What goes wrong around a relay: it is killed, hosts reset, wait or never answer, nobody resolves names.

usage: faults_test.py HARN
"""
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

import ground

RESET, SLOW, SILENT, HALF, ECHO, LATE = 7011, 7012, 7013, 7014, 7015, 7016
MANY = 1000


def serve(port, act):
    server = ground.listener(port)

    def loop():
        while True:
            client, _ = server.accept()
            threading.Thread(target=act, args=(client,), daemon=True).start()

    threading.Thread(target=loop, daemon=True).start()


def reset(client):
    client.recv(10)
    client.sendall(b"some")
    time.sleep(0.1)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


def flood(client):
    """Eight megabytes as fast as they are taken, each byte known."""
    with client:
        for i in range(128):
            client.sendall(bytes([i]) * 65536)


def half(client):
    """Answers only after the other direction has ended."""
    with client:
        total = 0
        while data := client.recv(65536):
            total += len(data)
        client.sendall(f"got {total}".encode())


def echo(client):
    with client:
        while data := client.recv(65536):
            client.sendall(data)


def hold(client):
    time.sleep(30)
    client.close()


SLOW_READER = f"""
import socket, time
s = socket.create_connection(('good.test', {SLOW})); total = 0; right = True; i = 0
while True:
    d = s.recv(50000)
    if not d: break
    for k in (0, len(d) - 1): right = right and d[k] == (total + k) // 65536
    total += len(d)
    if total < 400000: time.sleep(0.02)
print(total, right)
"""
HALF_CLOSE = f"""
import socket
s = socket.create_connection(('good.test', {HALF})); s.sendall(b'x' * 3000000); s.shutdown(1); print(s.recv(100).decode())
"""
RESET_SEEN = f"""
import socket
s = socket.create_connection(('good.test', {RESET})); s.sendall(b'hi'); print(s.recv(4).decode())
try: print('end', s.recv(10))
except ConnectionResetError: print('reset')
"""
KILLED = f"""
import socket, sys, time
s = socket.create_connection(('good.test', {ECHO})); s.sendall(b'one'); print(s.recv(10).decode(), flush=True)
sys.stdin.readline()
try: s.sendall(b'two'); print('answer' if s.recv(10) else 'closed')
except OSError as e: print(type(e).__name__)
try: socket.create_connection(('198.18.1.0', {ECHO}), 3); print('connected')
except OSError as e: print(type(e).__name__)
try: socket.getaddrinfo('good.test', 80); print('resolved')
except OSError as e: print('unresolved')
"""
MANY_AT_ONCE = f"""
import socket, resource
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE); resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
address = socket.getaddrinfo('good.test', {ECHO})[0][4]
held = [socket.create_connection(address) for _ in range({MANY})]
for i, s in enumerate(held): s.sendall(str(i).encode())
print(sum(s.recv(10) == str(i).encode() for i, s in enumerate(held)))
"""


class Faults:
    def __init__(self, harn):
        self.place = ground.Place(harn)
        self.problems = []
        ground.Resolver({"good.test": [["93.184.216.35"]], "nobody.test": [["93.184.216.36"]]}, ttl=60)
        for port, act in ((RESET, reset), (SLOW, flood), (SILENT, hold), (HALF, half), (ECHO, echo)):
            serve(port, act)

    def expect(self, name, holds, told):
        if not holds:
            self.problems.append(f"{name}: {told}")

    def python(self, script, flags=(), **options):
        allowed = [w for p in (RESET, SLOW, SILENT, HALF, ECHO, LATE) for w in ("--allow-host", f"good.test:{p}")]
        return self.place.harn_run([*allowed, *flags], ["/usr/bin/python3", "-c", script], **options)

    def streams(self):
        result = self.python(SLOW_READER)
        self.expect("a slow reader gets every byte", result.stdout.split() == [str(128 * 65536), "True"], result)
        result = self.python(HALF_CLOSE)
        self.expect("half a connection ends alone", result.stdout.strip() == "got 3000000", result)
        result = self.python(RESET_SEEN)
        self.expect("a reset is passed on, after what came before", result.stdout.split() == ["some", "reset"], result)
        result = self.python(MANY_AT_ONCE)
        self.expect("a thousand connections at one time", result.stdout.strip() == str(MANY), result)

    def killed(self):
        command = [self.place.harn, "run", "--allow-host", f"good.test:{ECHO}", "--", "/usr/bin/python3", "-c", KILLED]
        with subprocess.Popen(command, cwd=self.place.project, env=self.place.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            first = run.stdout.readline().strip()
            relays = ground.relays_of(run.pid)
            self.expect("one relay per run", len(relays) == 1, relays)
            for relay in relays:
                os.kill(relay, signal.SIGKILL)
            time.sleep(0.2)
            out, err = run.communicate("go\n", timeout=30)
        self.expect("a relay that works", first == "one", first)
        words = out.split()
        self.expect("a killed relay closes everything", "answer" not in words and "connected" not in words and words[-1:] == ["unresolved"] and len(words) == 3, out)
        self.expect("a killed relay is told", "relay ended" in err, err)

    def launcher_killed(self):
        command = [self.place.harn, "run", "--allow-host", f"good.test:{ECHO}", "--", "sleep", "60"]
        with subprocess.Popen(command, cwd=self.place.project, env=self.place.environment(), stderr=subprocess.DEVNULL) as run:
            relays = []
            for _ in range(50):
                relays = ground.relays_of(run.pid)
                if relays:
                    break
                time.sleep(0.05)
            run.kill()
        time.sleep(0.3)
        left = [pid for pid in relays if os.path.exists(f"/proc/{pid}") and open(f"/proc/{pid}/stat", encoding="ascii").read().split()[2] != "Z"]
        self.expect("a relay ends with its launcher", relays and not left, (relays, left))

    def unreachable(self):
        """Nobody listens there: the connection is reset at once, and counted as failed."""
        result = self.place.harn_run(["--json", "--allow-host", f"good.test:{LATE}"], ["curl", "-sS", "-m", "5", f"http://good.test:{LATE}/"])
        outcome = json.loads(result.stdout)
        self.expect("a host nobody serves", outcome["exit_code"] in (7, 52, 56) and outcome["contacted"][0]["failed"] == 1, result.stdout[:400])

    def no_resolver(self):
        start = time.monotonic()
        env = self.place.environment(HARN_EGRESS_RESOLVER="127.0.0.1:9")
        result = self.place.harn_run(["--allow-host", "good.test"], ["curl", "-sS", "-m", "20", "http://good.test/"], env=env)
        self.expect("no resolver at all", result.returncode == 6 and time.monotonic() - start < 5, (result, time.monotonic() - start))
        sink = ground.listener(5399, socket.SOCK_DGRAM)
        start = time.monotonic()
        env = self.place.environment(HARN_EGRESS_RESOLVER="127.0.0.1:5399")
        result = self.place.harn_run(["--allow-host", "good.test"], ["curl", "-sS", "-m", "20", "http://good.test/"], env=env)
        sink.close()
        self.expect("a resolver that never answers", result.returncode == 6 and time.monotonic() - start < 15, (result, time.monotonic() - start))

    def nothing_left(self):
        """Nothing of a finished run stays: no relay, no memory file."""
        self.python("print(1)")
        self.expect("no relay is left", not ground.relays_of(os.getpid()), ground.relays_of(os.getpid()))

    def run(self):
        for part in (self.streams, self.killed, self.launcher_killed, self.unreachable, self.no_resolver, self.nothing_left):
            part()
        self.place.remove()
        print(f"faults as uid {os.getuid()}")
        print("\n".join(self.problems))
        return 1 if self.problems else 0


if __name__ == "__main__":
    ground.enter()
    sys.exit(Faults(sys.argv[1]).run())
