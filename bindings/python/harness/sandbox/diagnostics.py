# SPDX-License-Identifier: Apache-2.0
"""What this host can do, in three answers."""

from __future__ import annotations

from typing import Optional, Union

from harness import _native
from harness.sandbox.executor import SandboxExecutor
from harness.sandbox.policy import Sandbox


def sandbox_active_backend() -> str:
    """What would confine a command here: "linux", "bubblewrap", …; "noop" when nothing works."""
    return str(_native.call("harn_sandbox_active_backend", None)["backend"])


def sandbox_backend_available() -> bool:
    """Whether something was proved to confine."""
    return bool(_native.call("harn_sandbox_backend_available", None)["available"])


def sandbox_active_profile(of: Optional[Union[SandboxExecutor, Sandbox]] = None) -> str:
    """How strict it is; "unrestricted" where there is none."""
    if of is None:
        return str(_native.call("harn_sandbox_active_profile", None)["profile"])
    return str(of.describe()["profile"])
