# SPDX-License-Identifier: Apache-2.0
"""A command asks its operator: every kind of answer, over a socket and at a terminal, and what it must not win by asking.

usage: ask_test.py HARN    HARN_PRETEND=userns=no takes the view away
"""
import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time

BARE = "userns=no" in os.environ.get("HARN_PRETEND", "")
PATIENCE = 60


class Operator:
    """Listens at a socket and answers each question by a function; None = no answer."""

    def __init__(self, path, answer):
        self.questions, self.withdrawn, self.hello, self.answer = [], [], None, answer
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(path)
        self.server.listen(8)
        self.client = None
        self.lock = threading.Lock()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        try:
            self.client, _ = self.server.accept()
            for line in self.client.makefile("r", encoding="utf-8"):
                self.take(json.loads(line))
        except OSError:
            pass

    def take(self, said):
        if said["type"] == "hello":
            self.hello = said
        elif said["type"] == "withdrawn":
            self.withdrawn.append(said)
        else:
            self.questions.append(said)
            answer = self.answer(said)
            if answer is not None:
                self.say(said, answer)

    def say(self, question, answer):
        words = {"id": question["id"], **(answer if isinstance(answer, dict) else {"answer": answer})}
        self.send(json.dumps(words) + "\n")

    def send(self, text):
        with self.lock:
            self.client.sendall(text.encode())

    def leave(self):
        self.client.shutdown(socket.SHUT_RDWR)
        self.client.close()


class Suite:
    def __init__(self, harn):
        self.place = tempfile.mkdtemp(prefix="harn-ask-", dir="/var/tmp")
        os.chmod(self.place, 0o755)
        self.harn = shutil.copy(harn, self.place + "/harn")
        self.project, self.home, self.out, self.desk = (self.place + "/" + name for name in ("project", "home", "out", "desk"))
        for directory in (self.project, self.home, self.out, self.desk):
            os.mkdir(directory)
        self.failed = self.count = 0
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": self.home, "LANG": "C.UTF-8", "TERM": "xterm"}
        if BARE:
            self.environment["HARN_PRETEND"] = "userns=no"

    def expect(self, what, is_so, *shown):
        print(("ok      " if is_so else "FAILED  ") + what, flush=True)
        if not is_so:
            self.failed += 1
            print("       ", *shown, flush=True)

    def file(self, name, text="content\n", directory=None):
        path = (directory or self.out) + "/" + name
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def socket_path(self):
        self.count += 1
        return f"{self.desk}/{self.count}"

    def words(self, flags, script):
        return [self.harn, "run", *flags, "--", "sh", "-c", script]

    def ask(self, answer, script, flags=(), timeout="20s"):
        """What the operator was asked, and how the command ended."""
        path = self.socket_path()
        operator = Operator(path, answer)
        ran = subprocess.run(self.words([f"--ask={path}", "--ask-timeout", timeout, *flags], script), cwd=self.project, env=self.environment,
                             capture_output=True, text=True, timeout=PATIENCE, check=False, stdin=subprocess.DEVNULL)
        operator.thread.join(5)  # what it was told last
        return operator, ran

    # ---- answers -----------------------------------------------------------------------------------

    def answers(self):
        file = self.file("notes")
        ran = subprocess.run(self.words([], f"cat {file}"), cwd=self.project, env=self.environment, capture_output=True, check=False)
        self.expect("control: without a question it is refused", ran.returncode != 0, ran)
        operator, ran = self.ask(lambda q: "once", f"cat {file}; cat {file}")
        self.expect("once is once", ran.stdout == "content\n" * 2 and len(operator.questions) == 2, ran, operator.questions)
        self.expect("the question says what it is", operator.questions[0]["access"] == "read" and operator.questions[0]["target"] == file
                    and operator.questions[0]["answers"] == ["once", "run", "deny"] and operator.questions[0]["processes"], operator.questions)
        self.expect("the run says who it is", operator.hello["argv"][0] == "sh" and operator.hello["version"] == 1, operator.hello)
        operator, ran = self.ask(lambda q: "run", f"cat {file}; cat {file}")
        self.expect("for this run is asked once", ran.stdout == "content\n" * 2 and len(operator.questions) == 1, ran, operator.questions)
        operator, ran = self.ask(lambda q: "deny", f"cat {file}; cat {file}; echo end")
        self.expect("no is no, and asked once", ran.stdout == "end\n" and len(operator.questions) == 1, ran, operator.questions)
        operator, ran = self.ask(lambda q: {"answer": "run", "lasts_ms": 300}, f"cat {file}; sleep 0.7; cat {file}")
        self.expect("an answer that expires is asked for again", ran.stdout == "content\n" * 2 and len(operator.questions) == 2, ran, operator.questions)
        operator, ran = self.ask(lambda q: "run", f"test -f {file} && cat {file}")
        self.expect("a look is answered like the open that follows", ran.stdout == "content\n" and len(operator.questions) == 1, ran, operator.questions)
        operator, ran = self.ask(lambda q: "once", f"test -f {file} && cat {file}")
        self.expect("a look does not spend the answer", ran.stdout == "content\n" and len(operator.questions) == 1, ran, operator.questions)
        operator, ran = self.ask(lambda q: "run", f"cat {self.out}/absent; ls {self.out}; true")
        self.expect("what would fail anyway, and directories, are not asked about", not operator.questions, operator.questions)

    def changes(self):
        file = self.file("written", "old\n")
        operator, ran = self.ask(lambda q: "run" if q["access"] == "write" else "deny", f"echo new > {file}")
        self.expect("a yes to writing writes", ran.returncode == 0 and open(file, encoding="ascii").read() == "new\n", ran, operator.questions)
        operator, ran = self.ask(lambda q: "run" if q["access"] == "create" else "deny", f"echo made > {self.out}/made")
        self.expect("a yes to a new file makes it", ran.returncode == 0 and os.path.exists(self.out + "/made"), ran, operator.questions)
        operator, ran = self.ask(lambda q: "run" if q["access"] == "read" else "deny", f"cat {file}; echo lost > {file}")
        self.expect("a yes to reading is none to writing", open(file, encoding="ascii").read() == "new\n", ran, operator.questions)

    def policy(self):
        file, policy = self.file("lasting"), self.file("policy.toml", f'# mine\n\nworkspace_roots = ["{self.project}"]\n')
        operator, ran = self.ask(lambda q: "policy", f"cat {file}", ["--policy", policy])
        text = open(policy, encoding="utf-8").read()
        self.expect("into the policy is offered and written", "policy" in operator.questions[0]["answers"] and file in text, ran, operator.questions, text)
        self.expect("its comment stays", text.startswith("# mine\n"), text)
        ran = subprocess.run(self.words(["--policy", policy], f"cat {file}"), cwd=self.project, env=self.environment, capture_output=True, check=False)
        self.expect("the next run needs no question", ran.returncode == 0, ran)
        secret = self.file(".netrc", "token\n", self.home)
        operator, ran = self.ask(lambda q: "policy", f"cat {secret}", ["--policy", policy])
        question = operator.questions[0]
        self.expect("a secret is asked about with a warning", "secret" in question.get("warning", ""), question)
        self.expect("and never written down", "policy" not in question["answers"] and ".netrc" not in open(policy, encoding="utf-8").read(), question)
        self.expect("a yes holds for the run", ran.stdout == "token\n", ran)
        denied = self.file("denied")
        operator, ran = self.ask(lambda q: "run", f"cat {denied}", ["--deny", denied, "--read", self.out])
        self.expect("what the operator denied is not asked about", not operator.questions and ran.returncode != 0, ran, operator.questions)

    # ---- time and numbers -----------------------------------------------------------------------------

    def waiting(self):
        file = self.file("slow")
        operator, ran = self.ask(lambda q: None, f"cat {file}; echo end", timeout="1s")
        self.expect("nobody's answer is a no", ran.stdout == "end\n" and [w["why"] for w in operator.withdrawn] == ["timed out"], ran, operator.withdrawn)
        files = [self.file(f"many{i}") for i in range(8)]
        arrived, path = [], self.socket_path()
        operator = Operator(path, arrived.append)
        script = " ".join(f"cat {f} &" for f in files) + " echo free > here; wait"
        run = subprocess.Popen(self.words([f"--ask={path}"], script), cwd=self.project, env=self.environment, stdout=subprocess.PIPE, text=True,
                               stdin=subprocess.DEVNULL)
        deadline = time.time() + PATIENCE
        while (len(arrived) < 8 or not os.path.exists(self.project + "/here")) and time.time() < deadline:
            time.sleep(0.02)
        self.expect("many ask at one time, and nobody else waits", len(arrived) == 8 and os.path.exists(self.project + "/here"), arrived)
        for question in arrived:
            operator.say(question, "once")
        self.expect("each gets its answer", run.communicate(timeout=PATIENCE)[0] == "content\n" * 8 and run.returncode == 0, run.returncode)
        operator, ran = self.ask(lambda q: "run", f"for i in 1 2 3 4 5 6 7 8 9 10; do cat {file} & done; wait")
        self.expect("the same question is put once", ran.stdout == "content\n" * 10 and len(operator.questions) == 1, ran, operator.questions)
        for i in range(130):
            self.file(f"flood{i}")
        operator, ran = self.ask(lambda q: "deny", f"for i in $(seq 0 129); do cat {self.out}/flood$i; done; echo end")
        self.expect("a flood is cut", ran.stdout == "end\n" and len(operator.questions) == 100, ran.stdout, len(operator.questions))
        operator, ran = self.ask(lambda q: None, f"for i in $(seq 0 60); do cat {self.out}/flood$i & done; wait; echo end", timeout="2s")
        self.expect("so are too many at one time", ran.stdout == "end\n" and len(operator.questions) <= 16, ran.stdout, len(operator.questions))

    def endings(self):
        file = self.file("left")
        operator, ran = self.ask(lambda q: None, f"timeout -s KILL 0.5 cat {file}; sleep 1; echo end")
        self.expect("a question whose asker was killed is taken back", ran.stdout.endswith("end\n") and operator.withdrawn and "gone" in operator.withdrawn[0]["why"],
                    ran, operator.withdrawn)
        operator, ran = self.ask(lambda q: None, f"cat {file} & sleep 0.3; exit 7")
        self.expect("a command that ends waits for nobody", ran.returncode == 7, ran)
        path = self.socket_path()
        operator = Operator(path, lambda q: operator.leave())
        ran = subprocess.run(self.words([f"--ask={path}"], f"cat {file}; cat {file}; echo end"), cwd=self.project, env=self.environment, capture_output=True,
                             text=True, timeout=PATIENCE, check=False, stdin=subprocess.DEVNULL)
        self.expect("an operator who is gone has said no", ran.stdout == "end\n", ran)
        path = self.socket_path()
        operator = Operator(path, lambda q: operator.send("yes please\n"))
        ran = subprocess.run(self.words([f"--ask={path}"], f"cat {file}; echo end"), cwd=self.project, env=self.environment, capture_output=True,
                             text=True, timeout=PATIENCE, check=False, stdin=subprocess.DEVNULL)
        self.expect("so has one who cannot be understood", ran.stdout == "end\n", ran)
        path = self.socket_path()
        operator = Operator(path, lambda q: None)
        run = subprocess.Popen(self.words([f"--ask={path}"], f"cat {file}"), cwd=self.project, env=self.environment, stdin=subprocess.DEVNULL)
        deadline = time.time() + PATIENCE
        while not operator.questions and time.time() < deadline:
            time.sleep(0.02)
        run.send_signal(signal.SIGTERM)
        self.expect("a signal ends a command that waits", run.wait(PATIENCE) == 128 + signal.SIGTERM, run.returncode)

    # ---- what asking must not win ---------------------------------------------------------------------

    def attacks(self):
        file = self.file("readonly", "kept\n")
        os.chmod(file, 0o644)
        probe = self.file("probe.py", f"""
import os
fd = os.open("{file}", os.O_RDONLY)
def tries(what, act):
    try:
        act()
        print("ESCAPED", what)
    except OSError as error:
        print("refused", what, error.errno)
tries("reopen for writing", lambda: os.open(f"/proc/self/fd/{{fd}}", os.O_RDWR))
tries("truncate", lambda: os.ftruncate(fd, 0))
tries("fchmod", lambda: os.fchmod(fd, 0o777))
tries("chmod through proc", lambda: os.chmod(f"/proc/self/fd/{{fd}}", 0o777))
tries("times", lambda: os.utime(fd, (1, 1)))
tries("attributes", lambda: os.setxattr(fd, "user.x", b"x"))
tries("link", lambda: os.link(f"/proc/self/fd/{{fd}}", "linked", follow_symlinks=True))
tries("next to it", lambda: os.open("other", os.O_RDONLY, dir_fd=fd))
print(os.read(fd, 100).decode(), end="")
""", self.project)
        operator, ran = self.ask(lambda q: "run" if q["access"] == "read" else "deny", f"python3 {probe}")
        self.expect("a file given for reading is for reading", "ESCAPED" not in ran.stdout and "kept" in ran.stdout and ran.stdout.count("refused") == 8, ran)
        self.expect("and is as it was", stat.S_IMODE(os.stat(file).st_mode) == 0o644 and open(file, encoding="ascii").read() == "kept\n", ran)
        other = self.file("other")
        os.symlink(other, self.out + "/link")
        operator, ran = self.ask(lambda q: "once", f"cat {self.out}/link")
        self.expect("a link is asked about by where it leads", operator.questions[-1]["target"] == other, operator.questions)
        inside = self.project + "/desk"
        server = socket.socket(socket.AF_UNIX)
        server.bind(inside)
        server.listen(1)
        ran = subprocess.run(self.words([f"--ask={inside}"], "true"), cwd=self.project, env=self.environment, capture_output=True, text=True, check=False)
        self.expect("a desk within reach of the command is refused", ran.returncode == 125 and "could reach" in ran.stderr, ran)
        ran = subprocess.run(self.words([f"--ask={self.desk}/nobody"], "true"), cwd=self.project, env=self.environment, capture_output=True, text=True, check=False)
        self.expect("without anybody to ask nothing runs", ran.returncode == 125 and "nobody to ask" in ran.stderr, ran)

    def sockets(self):
        path = self.out + "/service"
        server = socket.socket(socket.AF_UNIX)
        server.bind(path)
        server.listen(8)
        os.chmod(path, 0o777)

        def serve():
            while True:
                client, _ = server.accept()
                client.sendall(b"served\n")
                client.close()

        threading.Thread(target=serve, daemon=True).start()
        script = f"python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect(\"{path}\"); print(s.recv(100).decode(), end=\"\")'"
        operator, ran = self.ask(lambda q: "once" if q["access"] == "connect" else "deny", script)
        if BARE and not operator.questions:
            print("skipped: named sockets are closed as a whole without user namespaces")
            return
        self.expect("a yes to a socket connects it", ran.stdout == "served\n", ran, operator.questions)
        operator, ran = self.ask(lambda q: "deny", script)
        self.expect("a no does not", ran.returncode != 0 and ran.stdout == "", ran)
        swap = self.file("swap.py", f"""
import os, socket, stat, threading, time
os.mknod("mine", stat.S_IFSOCK | 0o700)
def swap():
    time.sleep(0.5)
    os.symlink("{path}", "link")
    os.rename("link", "mine")
threading.Thread(target=swap).start()
s = socket.socket(socket.AF_UNIX)
try:
    s.connect("mine"); print("GOT", s.recv(100))
except OSError as error:
    print("refused", error.errno)
""", self.project)

        def late(question):
            time.sleep(1.5)
            return "run"

        operator, ran = self.ask(late, f"python3 {swap}")
        self.expect("a yes is to the socket that was there when it was asked", "GOT" not in ran.stdout and "refused" in ran.stdout, ran, operator.questions)

    def audit(self):
        file = self.file("recorded")
        self.ask(lambda q: {"answer": "run", "lasts_ms": 5000}, f"cat {file}")
        self.ask(lambda q: None, f"cat {file}", timeout="500ms")
        shown = subprocess.run([self.harn, "audit", "show", "--type", "ask_answered", "--json"], cwd=self.project, env=self.environment,
                               capture_output=True, text=True, check=False)
        events = [json.loads(line)["data"] for line in shown.stdout.splitlines()]
        events = [event if isinstance(event, dict) else json.loads(event) for event in events]
        mine = [event for event in events if event["target"] == file]
        self.expect("every answer is recorded with its scope, its time and why",
                    len(mine) == 2 and mine[0]["answer"] == "run" and mine[0]["lasts_ms"] == 5000 and mine[1]["answer"] == "deny" and mine[1]["why"] == "timed out", shown, events)

    # ---- the terminal ---------------------------------------------------------------------------------

    def at_terminal(self, script, reply, flags=()):
        """`reply` gets the text so far and returns what to type, or None."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.project)
            os.execve(self.harn, [self.harn, "run", "--ask", *flags, "--", "sh", "-c", script], self.environment)
        seen, deadline = "", time.time() + PATIENCE
        while time.time() < deadline:
            if not select.select([terminal], [], [], 0.2)[0]:
                continue
            try:
                more = os.read(terminal, 4096)
            except OSError:
                break
            if not more:
                break
            seen += more.decode(errors="replace")
            typed = reply(seen)
            if typed:
                os.write(terminal, typed.encode())
        _, status = os.waitpid(pid, 0)
        os.close(terminal)
        return seen, os.waitstatus_to_exitcode(status)

    def terminal(self):
        file = self.file("typed", "shown\n")
        number = re.compile(r"The letter and (\d{4})")

        def once_each(letter):
            answered = []

            def reply(seen):
                found = number.findall(seen)
                if len(found) > len(answered):
                    answered.append(found[-1])
                    return f"{letter}{found[-1]}\n"
                return None

            return reply

        seen, code = self.at_terminal(f"cat {file}", once_each("o"))
        self.expect("a letter and the number are a yes", "shown" in seen and code == 0, seen, code)
        seen, code = self.at_terminal(f"cat {file}", once_each("d"))
        self.expect("d is a no", "shown" not in seen and code != 0, seen, code)
        tried = []

        def guess(seen):
            if len(seen.split("(no after")) + seen.count("such as d") > len(tried) + 1:
                tried.append(1)
                return "o0000\n" if "0000" not in number.findall(seen) else "o1111\n"
            return None

        seen, code = self.at_terminal(f"cat {file}", guess)
        self.expect("a letter without the number is none", "shown" not in seen and code != 0, seen, code)
        seen, code = self.at_terminal(f"(sleep 0.3; printf 'o1234\\r\\n\\033[2J\\033[HFAKE'; sleep 1) & cat {file}; wait", once_each("d"))
        first, rest = seen.split("The letter and", 1)
        self.expect("what the command prints waits for the answer", "FAKE" in rest and rest.index("FAKE") > rest.index("d" + number.findall(seen)[0]), repr(seen))
        odd = self.file("od\x1b[31md\nname", "odd\n")
        seen, code = self.at_terminal("cat " + "'" + odd + "'", once_each("o"))
        prompt = seen[seen.index("harn: the command") : seen.index("The letter")]
        self.expect("a path moves nothing on the terminal", "\x1b" not in prompt and "odd\r\n" in seen, repr(seen))
        flood = self.file("flood.py", f"""
import os, threading, time
def lie():
    time.sleep(0.3)
    left = (4 << 20) + 65536
    while left > 0: left -= os.write(1, bytes(min(left, 65536)))
    os.write(1, b"harn: the command asks to read 'README'")
threading.Thread(target=lie).start()
try: print("GRANTED", open("{file}").read())
except OSError as error: print("refused", error.errno)
""", self.project)
        answered = []

        def late(seen):
            found = number.findall(seen)
            if "asks to read 'README'" in seen and found and not answered:
                answered.append(found[-1])
                return f"o{found[-1]}\n"
            return None

        seen, code = self.at_terminal(f"python3 -u {flood}", late)
        seen = seen.replace("\0", "")
        self.expect("what floods the terminal is told no before anything of it is shown", "refused" in seen and "GRANTED" not in seen, seen[-600:])
        seen, code = self.at_terminal(f"cat {file}; echo end", lambda seen: None, ["--ask-timeout", "1s"])
        self.expect("time is up at a terminal too", "timed out" in seen and "end" in seen, seen)
        ran = subprocess.run(self.words(["--ask"], "true"), cwd=self.project, env=self.environment, capture_output=True, text=True, check=False,
                             stdin=subprocess.DEVNULL, start_new_session=True)
        self.expect("without a terminal nothing runs", ran.returncode == 125 and "no terminal" in ran.stderr, ran)

    def check(self):
        for part in (self.answers, self.changes, self.policy, self.waiting, self.endings, self.attacks, self.sockets, self.audit, self.terminal):
            part()
        return self.failed


def main():
    suite = Suite(sys.argv[1])
    try:
        return 1 if suite.check() else 0
    finally:
        shutil.rmtree(suite.place, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
