#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/workspace.py HARN [--files N]: many files at once.

Applies N changes of all kinds while somebody edits and harn is killed again and again, checks every byte, mode and time, and takes
snapshots of an unchanged and a little changed workspace."""

import argparse
import hashlib
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("harn")
parser.add_argument("--files", type=int, default=100_000)
parser.add_argument("--kills", type=int, default=5)
options = parser.parse_args()
harn = os.path.abspath(options.harn)

top = pathlib.Path(tempfile.mkdtemp(prefix="harn-workspace-", dir="/var/tmp"))
project, home, run = top / "project", top / "home", top / "run"
for place in (project, home, run):
    place.mkdir(mode=0o700)
environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": str(run)}


def words(*arguments):
    return dict(args=[harn, *arguments], cwd=project, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def call(*arguments, expect=0):
    done = subprocess.run(**words(*arguments))
    assert expect is None or done.returncode == expect, (arguments, done.returncode, done.stderr[-2000:])
    return done


def place(number):
    return project / f"d{number // 1000}" / f"f{number}"


def timed(what, work):
    start = time.monotonic()
    result = work()
    print(f"{what:<64} {time.monotonic() - start:8.2f} s", flush=True)
    return result


# Every file is one of: modified, deleted, made anew, given another mode.
WRITER = """
import os, sys
for n in range(int(sys.argv[1])):
    p = f"d{n // 1000}/f{n}"
    kind = n % 4
    if kind == 0:
        open(p, "w").write(f"changed {n}\\n")
        os.utime(p, ns=(n, 1_600_000_000_000_000_000 + n))
    elif kind == 1: os.unlink(p)
    elif kind == 2:
        open(p + ".new", "w").write(f"new {n}\\n")
        os.chmod(p + ".new", 0o640)
    else: os.chmod(p, 0o755)
"""


def make():
    for number in range(options.files):
        if number % 1000 == 0:
            place(number).parent.mkdir()
        place(number).write_text(f"original {number}\n")
        place(number).chmod(0o644)


def digest():
    whole = hashlib.sha256()
    for directory, names, files in os.walk(project):
        names.sort()
        for name in sorted(files):
            path = pathlib.Path(directory) / name
            whole.update(f"{path.relative_to(project)} {path.stat().st_mode:o}\n".encode() + path.read_bytes())
    return whole.hexdigest()


try:
    timed(f"{options.files} files made", make)
    before = digest()
    timed("every one changed with --overlay", lambda: call("run", "--overlay", "--", "python3", "-c", WRITER, str(options.files)))
    assert digest() == before, "the project changed before anybody applied"
    edited = [number for number in random.Random(3).sample(range(options.files), 20) if number % 4 != 2]
    for number in edited:
        place(number).write_text("edited outside\n")

    def apply_and_kill():
        for _ in range(options.kills):
            going = subprocess.Popen(**words("apply"))
            time.sleep(random.uniform(0.2, 1.5))
            going.send_signal(signal.SIGKILL)
            going.communicate()
        return call("apply", expect=None)

    done = timed(f"applied, killed {options.kills} times on the way", apply_and_kill)
    print("  " + done.stdout.strip().splitlines()[-1])

    def check():
        for number in range(options.files):
            path, kind = place(number), number % 4
            if number in edited:
                assert path.read_text() == "edited outside\n", path
                continue
            if kind == 0:
                assert path.read_text() == f"changed {number}\n", path
                assert path.stat().st_mtime_ns == 1_600_000_000_000_000_000 + number, path
            elif kind == 1:
                assert not path.exists(), path
            elif kind == 2:
                made = path.with_name(path.name + ".new")
                assert made.read_text() == f"new {number}\n" and made.stat().st_mode & 0o7777 == 0o640, path
            else:
                assert path.stat().st_mode & 0o7777 == 0o755 and path.read_text() == f"original {number}\n", path
        left = [str(path) for path in project.rglob(".harn-apply-*")]
        assert not left, left

    timed("every byte, mode and time looked at", check)
    waiting = call("diff", "--stat").stdout.splitlines()
    assert len(waiting) == len(edited) and all("conflict" in line for line in waiting), waiting[:3]
    print(f"  {len(edited)} files were edited meanwhile: none overwritten, all told as conflicts")
    call("discard")

    call("session", "create", "--id", "many")
    timed("first snapshot", lambda: call("session", "snapshot", "many", "--name", "first"))
    timed("snapshot of what has not changed (target < 1 s for 100000)", lambda: call("session", "snapshot", "many", "--name", "second"))
    for number in range(3, min(options.files, 43), 4):
        place(number).write_text("one more\n")
    last = timed("snapshot after 10 changes", lambda: call("session", "snapshot", "many", "--name", "third"))
    print("  " + last.stdout.strip())
    call("session", "terminate", "many")
finally:
    subprocess.run(**words("session", "terminate", "--discard", "many"))
    shutil.rmtree(top, ignore_errors=True)
