# SPDX-License-Identifier: Apache-2.0
"""Running commands inside a boundary the operating system enforces."""

from harness.sandbox.config import build_policy, load_config
from harness.sandbox.diagnostics import sandbox_active_backend, sandbox_active_profile, sandbox_backend_available
from harness.sandbox.executor import SandboxExecutor, create_executor
from harness.sandbox.files import FileEntry, Files
from harness.sandbox.policy import Sandbox
from harness.sandbox.scope import policy_scope
from harness.sandbox.session import MEMORY_MOUNT, OUTPUTS_MOUNT, ExecResult, SandboxBackend, SessionError
from harness.sandbox.tape import TapedRun, read_tape

__all__ = [
    "ExecResult",
    "FileEntry",
    "Files",
    "MEMORY_MOUNT",
    "OUTPUTS_MOUNT",
    "Sandbox",
    "SandboxBackend",
    "SandboxExecutor",
    "SessionError",
    "TapedRun",
    "build_policy",
    "create_executor",
    "load_config",
    "policy_scope",
    "read_tape",
    "sandbox_active_backend",
    "sandbox_active_profile",
    "sandbox_backend_available",
]
