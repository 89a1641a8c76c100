# SPDX-License-Identifier: Apache-2.0
"""Reading and writing files inside a policy without starting a command, whatever links somebody swaps meanwhile."""

from __future__ import annotations

import dataclasses
import json
import os
from typing import Any, List, Optional, Union

from harness import _native
from harness.sandbox.scope import within

PathText = Union[str, "os.PathLike[str]"]


@dataclasses.dataclass(frozen=True)
class FileEntry:
    name: str
    kind: str  # "file" "directory" "link" "other", of the name itself


class Files:
    """Made by Sandbox.files(). What the policy does not allow raises SandboxError with the category "tool_rejected"."""

    def __init__(self, sandbox: int) -> None:
        self._handle = _native.create_from("harn_files_open", sandbox)

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", 0), 0
        if handle:
            _native.library().harn_files_close(handle)

    def read_bytes(self, path: PathText, *, max_bytes: Optional[int] = None) -> bytes:
        more = {} if max_bytes is None else {"max_bytes": max_bytes}
        return _native.bytes_of(self._do("read_text", path, **more)["text"])

    def read_text(self, path: PathText, *, max_bytes: Optional[int] = None) -> str:
        return self.read_bytes(path, max_bytes=max_bytes).decode(errors="replace")

    def list(self, path: PathText) -> List[FileEntry]:
        return [FileEntry(os.fsdecode(_native.bytes_of(entry["name"])), entry["kind"]) for entry in self._do("list", path)["entries"]]

    def exists(self, path: PathText) -> bool:
        return bool(self._do("exists", path)["exists"])

    def write_text(self, path: PathText, text: Union[str, bytes]) -> None:
        """In one step; missing directories are made."""
        self._do("write_text", path, text=_native.text_value(text))

    def delete(self, path: PathText) -> None:
        """A file, a link (never what it leads to) or an empty directory."""
        self._do("delete", path)

    def delete_tree(self, path: PathText) -> None:
        self._do("delete_tree", path)

    def _do(self, operation: str, path: PathText, **more: Any) -> _native.Json:
        request = {"operation": operation, "path": _native.text_value(os.fspath(path)), **more}
        if within():
            request["within"] = within()
        return _native.call("harn_files_do", self._handle, json.dumps(request).encode())
