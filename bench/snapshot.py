#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/snapshot.py HARN [--files N] [--bytes N]: snapshots of a large workspace, unchanged and a little changed."""

import argparse
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("harn")
parser.add_argument("--files", type=int, default=100_000)
parser.add_argument("--bytes", type=int, default=1 << 30)
parser.add_argument("--rounds", type=int, default=5)
options = parser.parse_args()
harn = os.path.abspath(options.harn)

top = pathlib.Path(tempfile.mkdtemp(prefix="harn-snapshot-", dir="/var/tmp"))
project, home, run = top / "project", top / "home", top / "run"
for place in (project, home, run):
    place.mkdir(mode=0o700)
environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": str(run)}


def call(*arguments, expect=0):
    done = subprocess.run([harn, *arguments], cwd=project, env=environment, capture_output=True, text=True)
    assert expect is None or done.returncode == expect, (arguments, done.returncode, done.stderr[-2000:])
    return done.stdout


def place(number):
    return project / f"d{number // 1000}" / f"f{number}"


def make():
    each = max(options.bytes // options.files, 16)
    for number in range(options.files):
        if number % 1000 == 0:
            place(number).parent.mkdir()
        # No two alike: every content is kept.
        place(number).write_bytes(f"{number:015d}\n".encode() * (each // 16))


def snapshot(name):
    start = time.monotonic()
    told = call("session", "snapshot", "large", "--name", name)
    return time.monotonic() - start, told.strip()


def least_and_median(name, before_each=lambda: None):
    taken = []
    for number in range(options.rounds):
        before_each()
        seconds, told = snapshot(f"{name}-{number}")
        taken.append(seconds)
    taken.sort()
    return taken[0], taken[len(taken) // 2], told


def change_ten():
    for number in range(0, min(options.files, 1000), 100):
        place(number).write_text(f"changed {time.monotonic_ns()}\n")


try:
    make()
    call("session", "create", "--id", "large")
    seconds, told = snapshot("first")
    print(f"first snapshot: {seconds:.2f} s ({told})")
    # Times within the granularity of the file system's clock are not trusted; let them be past.
    time.sleep(2)
    snapshot("settled")
    least, median, told = least_and_median("same")
    print(f"nothing changed: median {median:.2f} s, least {least:.2f} s (target < 1 for 100000 files)")
    least, median, told = least_and_median("changed", change_ten)
    print(f"10 files changed: median {median:.2f} s, least {least:.2f} s ({told})")
finally:
    call("session", "terminate", "large", expect=None)
    shutil.rmtree(top, ignore_errors=True)
