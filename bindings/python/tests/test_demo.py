# SPDX-License-Identifier: Apache-2.0
"""The demo of the Harness tutorial, unchanged, prints what the tutorial says: as the caller and as an ordinary user, with a
cgroup and without. HARNESS_DEMO_ROUNDS repeats it."""

from __future__ import annotations

import concurrent.futures
import os
import pathlib
import subprocess
import sys
import unittest
from typing import Dict, List, Optional, Tuple

from harness import _native
from support import SandboxTest

HERE = pathlib.Path(__file__).resolve()
DEMO = HERE.parents[3] / "examples" / "sandbox_demo.py"
ROUNDS = int(os.environ.get("HARNESS_DEMO_ROUNDS", "1"))
NOBODY = 65534

EXPECTED = """\
Test 1: Memory limit (64MB)...
 Exit: -9, OOM: True
Test 2: CPU timeout (5s)...
 Exit: -24, Timed out: True
Test 3: Blocked command...
 Validation: Command blocked by sandbox policy: contains 'rm -rf'
Test 4: Normal execution...
 Output: Hello from sandbox!
 Exit: 0
"""


class Demo(SandboxTest):
    def run_demo(self, variant: Tuple[Optional[int], Dict[str, str], int]) -> str:
        user, more, number = variant
        place = self.root / f"place-{number}"
        (place / "home").mkdir(parents=True)
        (place / "work").mkdir()
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(place / "home"), "PYTHONPATH": str(HERE.parents[1]),
                       "HARN_LIBRARY": _native.find_library(), "PYTHONDONTWRITEBYTECODE": "1", **more}
        as_user: List[str] = []
        if user is not None:
            for path in (self.root, place, place / "home", place / "work"):
                os.chmod(path, 0o755)
            for path in (place / "home", place / "work"):
                os.chown(path, user, user)
            as_user = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
        run = subprocess.run([*as_user, sys.executable, str(DEMO)], cwd=place / "work", env=environment, capture_output=True, text=True, timeout=120)
        return run.stdout + run.stderr

    def test_it_prints_what_the_tutorial_says(self) -> None:
        users: List[Optional[int]] = [None, NOBODY] if os.geteuid() == 0 else [None]
        variants = [(user, more) for user in users for more in ({}, {"HARN_PRETEND": "cgroup=no"})]
        numbered = [(*variant, number) for number, variant in enumerate(variants * ROUNDS)]
        # Two at a time: each spends five seconds of a processor.
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for variant, printed in zip(numbered, pool.map(self.run_demo, numbered)):
                with self.subTest(variant=variant):
                    self.assertEqual(printed, EXPECTED)


if __name__ == "__main__":
    unittest.main()
