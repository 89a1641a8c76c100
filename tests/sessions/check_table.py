#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_table.py SOURCE_DIR: every test that docs/sessions.md names for a promise exists, and every line names one."""

import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
text = (source / "docs" / "sessions.md").read_text()
table = text.split("## What the contract promises, and where it is tried")[1].split("\n## ")[0]
rows = [line for line in table.splitlines() if line.startswith("| ") and not line.startswith(("| there |", "|---"))]
files = [*(source / "tests" / "sessions").glob("*.cpp"), *(source / "src" / "session").glob("*_test.cpp")]
tests = {name for file in files for name in re.findall(r"TEST(?:_[FP])?\(\w+, (\w+)\)", file.read_text())}
wrong = []
for row in rows:
    named = re.findall(r"`(\w+)` \|$", row)
    if not named or named[0] not in tests:
        wrong.append(row)
if wrong or len(rows) < 20:
    print("lines of docs/sessions.md without a test:", *wrong, sep="\n  ")
    sys.exit(1)
print(f"{len(rows)} lines, each with a test")
