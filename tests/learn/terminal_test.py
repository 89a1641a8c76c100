# SPDX-License-Identifier: Apache-2.0
"""Somebody at a terminal is asked about a secret while a command is learned: yes with the number grants it, anything else does not.

usage: terminal_test.py HARN
"""
import os
import pty
import re
import select
import shutil
import sys
import tempfile
import time

PATIENCE = 60


def learn(harn, place, reply):
    """What was shown, the exit code, and the policy."""
    policy = place + "/kept.toml"
    if os.path.exists(policy):
        os.remove(policy)
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(place + "/project")
        environment = {"PATH": "/usr/bin:/bin", "HOME": place + "/home", "LANG": "C.UTF-8", "TERM": "xterm"}
        os.execve(harn, [harn, "learn", "-o", policy, "--", "cat", place + "/home/.netrc"], environment)
    seen, asked, deadline = "", 0, time.time() + PATIENCE
    while time.time() < deadline:
        if not select.select([terminal], [], [], 0.2)[0]:
            continue
        try:
            seen += os.read(terminal, 4096).decode(errors="replace")
        except OSError:
            break
        found = re.findall(r"Type (y\w{4}) for yes: ", seen)
        if len(found) > asked:
            asked = len(found)
            os.write(terminal, reply(found[-1]).encode() + b"\n")
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    with open(policy, encoding="utf-8") as text:
        return seen, os.waitstatus_to_exitcode(status), text.read()


def main():
    place = tempfile.mkdtemp(prefix="harn-learn-", dir="/var/tmp")
    failed = 0
    try:
        os.chmod(place, 0o755)
        for name in ("project", "home"):
            os.mkdir(place + "/" + name)
        with open(place + "/home/.netrc", "w", encoding="ascii") as file:
            file.write("token\n")
        for what, reply, granted in (("yes with the number", lambda word: word, True), ("a plain yes", lambda _: "y", False), ("nothing", lambda _: "", False)):
            seen, code, policy = learn(sys.argv[1], place, reply)
            written = "credentials = [" in policy
            good = written == granted and (code == 0) == granted
            print(("ok      " if good else "FAILED  ") + what, *(() if good else (repr(seen), code, policy)))
            failed += not good
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
