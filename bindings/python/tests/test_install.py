# SPDX-License-Identifier: Apache-2.0
"""pip installs the package from the tree without network, and it works from there."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import subprocess
import sys
import unittest

from harness import LibraryNotFound, _native
from support import SandboxTest

PACKAGE = pathlib.Path(__file__).resolve().parents[1]
CODE = """
import harness, harness.sandbox
print(harness.sandbox.create_executor().execute_sync("echo installed").stdout, end="")
print(harness.__file__)
"""


class Install(SandboxTest):
    @unittest.skipUnless(importlib.util.find_spec("pip"), "needs pip")
    def test_pip_without_network_and_without_other_packages(self) -> None:
        before = sorted(path for path in PACKAGE.iterdir() if path.name != "__pycache__")
        target = self.root / "target"
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--root-user-action=ignore", "--target", str(target), str(PACKAGE)],
                       check=True, timeout=120, env={**self.environment(), "PIP_CONFIG_FILE": os.devnull, "PYTHONDONTWRITEBYTECODE": "1"})
        self.assertEqual(sorted(path for path in PACKAGE.iterdir() if path.name != "__pycache__"), before, "nothing is left in the tree")
        self.assertTrue((target / "harness" / "py.typed").exists())
        environment = {**self.environment(), "PYTHONPATH": str(target), "HARN_LIBRARY": _native.find_library()}
        run = subprocess.run([sys.executable, "-c", CODE], cwd=self.work, env=environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(run.stdout, f"installed\n{target}/harness/__init__.py\n", run.stderr)

    def test_a_library_that_is_not_there_is_named(self) -> None:
        before = os.environ.get("HARN_LIBRARY")
        os.environ["HARN_LIBRARY"] = "/nonexistent/libharn.so"
        try:
            with self.assertRaises(LibraryNotFound):
                _native.find_library()
        finally:
            del os.environ["HARN_LIBRARY"]
            if before is not None:
                os.environ["HARN_LIBRARY"] = before


if __name__ == "__main__":
    unittest.main()
