# SPDX-License-Identifier: Apache-2.0
"""What can go wrong before a command runs."""

from __future__ import annotations

from typing import Any, Dict


class SandboxError(RuntimeError):
    """A policy, a request or a host that does not allow what was asked for."""

    def __init__(self, message: str, *, code: str = "internal", category: str = "internal", hint: str = "", where: str = "") -> None:
        super().__init__(f"{where}: {message}" if where else message)
        self.code = code
        self.category = category
        self.hint = hint
        self.where = where
        self.members: Dict[str, Any] = {}  # everything that was said

    @classmethod
    def from_json(cls, error: Dict[str, Any]) -> "SandboxError":
        made = cls(
            str(error.get("message", "")),
            code=str(error.get("code", "internal")),
            category=str(error.get("category", "internal")),
            hint=str(error.get("hint", "")),
            where=str(error.get("where", "")),
        )
        made.members = dict(error)
        return made

    def __str__(self) -> str:
        text = super().__str__()
        return f"{text} ({self.hint})" if self.hint else text


class LibraryNotFound(ImportError):
    """libharn.so is missing, or of another release."""
