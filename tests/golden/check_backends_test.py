#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A check that cannot fail checks nothing: each thing tools/check-backends is there to find is put in front of it."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parent.parent.parent


def verdict(golden, docs):
    done = subprocess.run([root / "tools/check-backends", "--golden", golden, "--docs", docs], capture_output=True, text=True)
    return done.returncode, done.stdout


def edited(path, before, after):
    text = path.read_text()
    assert before in text, f"{path} lacks {before!r}"
    path.write_text(text.replace(before, after, 1))


CASES = {
    "a plan opens a gap the table does not name":
        (lambda golden, docs: edited(golden / "default/openbsd-7.unveil", "\ngap ", "\ngap brand_new (reads): made up\ngap "), "brand_new"),
    "a plan enforces less than the table says":
        (lambda golden, docs: edited(golden / "default/macos-14.sb", "reads: enforced sbpl", "reads: not_enforced sbpl"), "disagree"),
    "a plan enforces by something else":
        (lambda golden, docs: edited(golden / "default/linux-6.18-abi7.linux", "signals: enforced", "signals: enforced magic"), "disagree"),
    "the table claims more than the plans":
        (lambda golden, docs: edited(docs / "openbsd.md", "| signals | not_enforced |", "| signals | enforced |"), "disagree"),
    "the table names a gap that no longer exists":
        (lambda golden, docs: edited(docs / "macos.md", "`mach_services_open`", "`mach_services_open`, `long_gone`"), "long_gone"),
    "nobody says how far it was tried":
        (lambda golden, docs: edited(docs / "windows.md", "**State: compiled, semantics proved on a model.", "**State: surely fine."), "State"),
}

failures = []
with tempfile.TemporaryDirectory() as place:
    code, said = verdict(root / "tests/golden/expect", root / "docs/backends")
    if code != 0:
        failures.append(f"the pages and the golden plans disagree:\n{said}")
    for number, (name, (spoil, word)) in enumerate(CASES.items()):
        golden = pathlib.Path(place, str(number), "expect")
        docs = pathlib.Path(place, str(number), "backends")
        shutil.copytree(root / "tests/golden/expect", golden)
        shutil.copytree(root / "docs/backends", docs)
        spoil(golden, docs)
        code, said = verdict(golden, docs)
        if code == 0 or word not in said:
            failures.append(f"not found: {name}\n{said}")
print("\n".join(failures) or f"{len(CASES)} disagreements found, as they should be")
sys.exit(1 if failures else 0)
