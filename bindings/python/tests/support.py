# SPDX-License-Identifier: Apache-2.0
"""A home and a workspace of its own for each test, so that nothing of the caller's is touched."""

from __future__ import annotations

import asyncio
import os
import pathlib
import tempfile
import unittest
from typing import Any, Awaitable, Dict, List, TypeVar

from harness.sandbox.executor import SandboxExecutor, create_executor
from harness.types.sandbox import SandboxPolicy

T = TypeVar("T")


def await_all(work: Awaitable[T]) -> T:
    async def main() -> T:
        return await work

    return asyncio.run(main())


def processes_with(marker: str) -> List[str]:
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if entry.name.isdigit() and marker.encode() in words:
            found.append(entry.name)
    return found


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


class SandboxTest(unittest.TestCase):
    def setUp(self) -> None:
        self._place = tempfile.TemporaryDirectory(prefix="harness-test-")
        self.addCleanup(self._place.cleanup)
        self.root = pathlib.Path(self._place.name).resolve()
        self.home, self.work = self.root / "home", self.root / "work"
        self.home.mkdir()
        self.work.mkdir()

    def environment(self, **more: str) -> Dict[str, str]:
        kept = {name: os.environ[name] for name in ("LANG", "HARN_PRETEND") if name in os.environ}
        return {**kept, "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(self.home), **more}

    def executor(self, environment: Dict[str, str] = {}, **policy: Any) -> SandboxExecutor:
        return create_executor(SandboxPolicy(**policy), cwd=self.work, environment=self.environment(**environment))
