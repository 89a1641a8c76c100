# SPDX-License-Identifier: Apache-2.0
"""pip installs the package from the tree without network, and it works from there."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import shutil
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
    @unittest.skipUnless(all(importlib.util.find_spec(name) for name in ("pip", "setuptools", "wheel")), "needs pip, setuptools and wheel")
    def test_pip_without_network(self) -> None:
        source = self.root / "source"  # building leaves files beside what it builds
        shutil.copytree(PACKAGE, source, ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
        target = self.root / "target"
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-index", "--root-user-action=ignore", "--target", str(target), str(source)],
                       check=True, timeout=120, env={**self.environment(), "PIP_CONFIG_FILE": os.devnull})
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
