# SPDX-License-Identifier: Apache-2.0
"""Programs as people use them, none told of a proxy: allowed hosts are reached, others fail at once.

usage: clients_test.py HARN
"""
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import ground

WEB, REDIS, POSTGRES, ECHO = 8081, 6379, 5432, 7001
BIG = 3_000_000


class Quiet(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        answer = f"{len(body)} {sum(body)}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


class Web(ThreadingHTTPServer):
    address_family = socket.AF_INET6
    daemon_threads = True

    def server_bind(self):
        self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()


def serve_lines(port, reply):
    server = ground.listener(port)

    def one(client):
        with client:
            while data := client.recv(4096):
                answer = reply(data)
                if answer:
                    client.sendall(answer)

    def loop():
        while True:
            client, _ = server.accept()
            threading.Thread(target=one, args=(client,), daemon=True).start()

    threading.Thread(target=loop, daemon=True).start()


def postgres(data):
    if data[4:8] == b"\x04\xd2\x16\x2f":  # asks for TLS
        return b"N"
    body = b"SFATAL\0C28000\0Mharn-was-here\0\0"
    return b"E" + (len(body) + 4).to_bytes(4, "big") + body


NODE = """
fetch('http://%s/a.txt').then(r => r.text()).then(t => console.log(t)).catch(e => { console.log('failed ' + (e.cause || e).code); process.exit(1); });
"""
PYTHON = "import urllib.request; print(urllib.request.urlopen('http://%s/a.txt', timeout=10).read().decode())"
JAVA = """
public class Get { public static void main(String[] a) throws Exception {
  System.out.print(new String(new java.net.URL("http://" + a[0] + "/a.txt").openStream().readAllBytes())); } }
"""


class Clients:
    def __init__(self, harn):
        self.place = ground.Place(harn)
        self.problems, self.count = [], 0
        self.resolver = ground.Resolver({"good.test": [["93.184.216.35"]], "evil.test": [["93.184.216.66"]]}, ttl=60)
        web = self.place.path + "/web"
        os.mkdir(web)
        with open(web + "/a.txt", "w", encoding="ascii") as file:
            file.write("the right page\n")
        with open(web + "/big", "wb") as file:
            file.write(os.urandom(BIG))
        self.web = web
        self._make_repository(web)
        handler = lambda *args: Quiet(*args, directory=web)
        for port in (WEB, 80):
            threading.Thread(target=Web(("::", port), handler).serve_forever, daemon=True).start()
        serve_lines(REDIS, lambda data: b"+PONG\r\n" if b"ping" in data.lower() else b"-ERR\r\n")
        serve_lines(POSTGRES, postgres)
        with open(self.place.project + "/Get.java", "w", encoding="ascii") as file:
            file.write(JAVA)

    def _make_repository(self, web):
        def git(*words):
            subprocess.run(["git", *words], cwd=web, check=True, capture_output=True, env={"PATH": "/usr/bin:/bin", "HOME": self.place.home})

        git("init", "-q", "repo")
        with open(web + "/repo/file", "w", encoding="ascii") as file:
            file.write("content\n")
        git("-C", "repo", "add", "file")
        git("-C", "repo", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one")
        git("-C", "repo", "update-server-info")

    def check(self, name, words, expected, flags=(), needs=None):
        """Twice: the allowed host answers, another one fails within seconds."""
        if shutil.which(needs or words("h")[0], path="/usr/bin:/bin") is None:
            print(f"not here: {name}")
            return
        self.count += 1
        allowed = ["--allow-host", "good.test", *(w for p in (WEB, REDIS, POSTGRES) for w in ("--allow-host", f"good.test:{p}")), *flags]
        result = self.place.harn_run(allowed, words("good.test"))
        if expected not in result.stdout + result.stderr:
            self.problems.append(f"{name}: {result.returncode} {result.stdout[-300:]} {result.stderr[-300:]}")
        start = time.monotonic()
        result = self.place.harn_run(allowed, words("evil.test"))
        took = time.monotonic() - start
        if expected in result.stdout or took > 8 or "--allow-host evil.test" not in result.stderr:
            self.problems.append(f"{name} for another host: {result.returncode} after {took:.1f} s {result.stdout[-200:]} {result.stderr[-300:]}")

    def run(self):
        page = "the right page"
        self.check("curl", lambda h: ["curl", "-sS", f"http://{h}:{WEB}/a.txt"], page)
        self.check("curl on port 80", lambda h: ["curl", "-sS", f"http://{h}/a.txt"], page)
        self.check("wget", lambda h: ["wget", "-q", "--tries=1", "-O", "-", f"http://{h}:{WEB}/a.txt"], page, needs="wget")
        self.check("git over http", lambda h: ["sh", "-c", f"git clone -q http://{h}:{WEB}/repo/.git $TMPDIR/c && cat $TMPDIR/c/file"], "content", needs="git")
        self.check("node fetch", lambda h: ["node", "-e", NODE % f"{h}:{WEB}"], page, needs="node")
        self.check("python urllib", lambda h: ["/usr/bin/python3", "-c", PYTHON % f"{h}:{WEB}"], page, needs="python3")
        self.check("java", lambda h: ["java", "-Xmx64m", "Get.java", f"{h}:{WEB}"], page, needs="java")
        self.check("redis-cli", lambda h: ["redis-cli", "-h", h, "ping"], "PONG")
        self.check("psql", lambda h: ["psql", f"postgresql://u@{h}/d", "-c", "select 1"], "harn-was-here", needs="psql")
        # Go asks resolvers by itself, without libc.
        self.check("go", lambda h: ["hey", "-n", "1", "-c", "1", f"http://{h}:{WEB}/a.txt"], "[200]", needs="hey")
        self.git_over_ssh()
        self.check("bash", lambda h: ["bash", "-c", f"exec 3<>/dev/tcp/{h}/{REDIS}; echo ping >&3; head -n1 <&3"], "PONG", needs="bash")
        self.whole()
        self.doors()
        self.place.remove()
        print(f"{self.count} clients as uid {os.getuid()}")
        print("\n".join(self.problems))
        return 1 if self.problems else 0

    def git_over_ssh(self):
        """A server of ours on port 22; it starts commands with the caller's own shell, and nobody has none."""
        needed = ("git", "ssh", "dropbear", "dropbearkey")
        if os.getuid() != 0 or any(shutil.which(name, path="/usr/sbin:/usr/bin:/bin") is None for name in needed):
            print("not here: git over ssh (needs root, git, openssh-client and dropbear-bin)")
            return
        home, key = self.place.path + "/server", self.place.project + "/key"
        os.mkdir(home)
        for kind, file in (("ed25519", key), ("ed25519", home + "/host")):
            subprocess.run(["dropbearkey", "-t", kind, "-f", file], check=True, capture_output=True)
        public = subprocess.run(["dropbearkey", "-y", "-f", key], check=True, capture_output=True, text=True).stdout
        subprocess.run(["dropbearconvert", "dropbear", "openssh", key, key + ".open"], check=True, capture_output=True)
        os.chmod(key + ".open", 0o600)
        with open(home + "/authorized_keys", "w", encoding="ascii") as file:
            file.write(next(line for line in public.splitlines() if line.startswith("ssh-")) + "\n")
        # It looks for keys in the user's home whatever the environment says; so root has another home there.
        start = f"mount -t tmpfs -o mode=700 none /root && mkdir -m 700 /root/.ssh && cp {home}/authorized_keys /root/.ssh && chmod 600 /root/.ssh/authorized_keys && exec dropbear -F -E -s -p 22 -r {home}/host"
        server = subprocess.Popen(["unshare", "-m", "sh", "-c", start], stderr=subprocess.DEVNULL)
        for _ in range(100):
            with socket.socket() as trial:
                if trial.connect_ex(("127.0.0.1", 22)) == 0:
                    break
            time.sleep(0.05)
        try:
            ssh = "ssh -F none -i key.open -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o BatchMode=yes -o LogLevel=ERROR"
            words = lambda h: ["sh", "-c", f"GIT_SSH_COMMAND='{ssh}' git clone -q ssh://root@{h}{self.web}/repo $TMPDIR/s && cat $TMPDIR/s/file"]
            self.check("git over ssh", words, "content", needs="git")
        finally:
            server.terminate()
            server.wait()

    def whole(self):
        """Megabytes arrive as they were sent, in both directions, and are counted."""
        script = f"curl -sS -o got http://good.test:{WEB}/big && curl -sS --data-binary @got http://good.test:{WEB}/ && cat got | sha256sum"
        result = self.place.harn_run(["--json", "--allow-host", f"good.test:{WEB}"], ["sh", "-c", script])
        outcome = json.loads(result.stdout)
        with open(self.web + "/big", "rb") as file:
            body = file.read()
        digest = subprocess.run(["sha256sum"], input=body, capture_output=True, check=True).stdout.decode().split()[0]
        if f"{BIG} {sum(body)}" not in outcome["stdout"] or digest not in outcome["stdout"]:
            self.problems.append(f"bytes were changed: {outcome['stdout']} {outcome['stderr']}")
        contact = outcome["contacted"][0]
        if contact["connections"] != 2 or contact["received_bytes"] < BIG or contact["sent_bytes"] < BIG:
            self.problems.append(f"bytes were not counted: {contact}")

    def doors(self):
        """--host-port leads in one direction, --publish in the other, --loopback nowhere."""
        result = self.place.harn_run(["--host-port", str(WEB)], ["curl", "-sS", f"http://127.0.0.1:{WEB}/a.txt", f"http://localhost:{WEB}/a.txt"])
        if result.stdout.count("the right page") != 2:
            self.problems.append(f"--host-port: {result.stdout} {result.stderr}")
        result = self.place.harn_run(["--loopback"], ["curl", "-sS", "-m", "3", f"http://127.0.0.1:{WEB}/a.txt"])
        if result.returncode == 0:
            self.problems.append("--loopback reached the host's")
        if ground.BARE:
            return  # a port of its own needs a network of its own
        for more in ([], ["--allow-host", "good.test"]):
            command = [self.place.harn, "run", "--publish", "9099", *more, "--", "/usr/bin/python3", "-m", "http.server", "9099", "--bind", "127.0.0.1", "--directory", self.place.project]
            with subprocess.Popen(command, cwd=self.place.project, env=self.place.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
                answers = []
                for _ in range(100):
                    got = subprocess.run(["curl", "-sS", "-m", "5", "http://127.0.0.1:9099/Get.java"], capture_output=True, text=True, check=False)
                    answers.append("openStream" in got.stdout)
                    if answers.count(True) == 70:  # more than there are sockets inside
                        break
                    if not answers[-1]:
                        time.sleep(0.1)
                server.terminate()
            if answers.count(True) < 70:
                self.problems.append(f"--publish {more}: {answers.count(True)} answers of {len(answers)}")


if __name__ == "__main__":
    ground.enter()
    sys.exit(Clients(sys.argv[1]).run())
