# SPDX-License-Identifier: Apache-2.0
"""What was recorded with `harn run --record` or Sandbox(record=…), as it stands on the tape (docs/replay.md)."""

from __future__ import annotations

import base64
import json
import os
from typing import Any, Dict, List, Optional, Union

from harness import _native

PathText = Union[str, "os.PathLike[str]"]


class TapedRun:
    """One run of a tape. `record` is all of it but the bytes of its outputs, which are read when they are asked for."""

    def __init__(self, tape: str, number: int, record: Dict[str, Any]) -> None:
        self.number = number  #: counted from 1, as `harn replay --at` counts
        self.record = record
        self._tape = tape

    @property
    def argv(self) -> List[str]:
        return [os.fsdecode(_bytes(word)) for word in self.record["argv"]]

    @property
    def exit_code(self) -> Optional[int]:
        """Negative: ended by that signal. None: it did not start, and record["error"] says why."""
        end = self.record.get("end")
        return None if end is None else int(end["exit_code"])

    @property
    def stdout(self) -> bytes:
        return self._output("stdout")

    @property
    def stderr(self) -> bytes:
        return self._output("stderr")

    def _output(self, name: str) -> bytes:
        whole = _native.call("harn_tape_read", json.dumps({"tape": _native.text_value(self._tape), "exec": self.number}).encode())
        return _bytes(whole.get(name, {}).get("bytes", ""))

    def __repr__(self) -> str:
        return f"TapedRun({self.number}, {self.argv!r}, exit_code={self.exit_code})"


def read_tape(path: PathText) -> List[TapedRun]:
    """Every run on a tape, in the order in which they ended. A tape that was edited or cut raises SandboxError."""
    name = os.fspath(os.path.abspath(path))
    tape = _native.call("harn_tape_read", json.dumps({"tape": _native.text_value(name)}).encode())
    return [TapedRun(name, number, record) for number, record in enumerate(tape["records"], 1)]


def _bytes(value: Union[str, Dict[str, str]]) -> bytes:
    """Text, or what is none as {"base64": …}."""
    return base64.b64decode(value["base64"]) if isinstance(value, dict) else value.encode()
