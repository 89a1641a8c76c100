# SPDX-License-Identifier: Apache-2.0
"""Shell commands under one SandboxPolicy, awaited."""

from __future__ import annotations

import asyncio
import os
import warnings
from types import TracebackType
from typing import Any, Coroutine, Dict, List, Mapping, Optional, Type, Union

from harness import _native
from harness.sandbox._running import OnText, run_async, run_sync
from harness.sandbox.scope import within
from harness.types.sandbox import ExecutionResult, SandboxMode, SandboxPolicy

DEFAULT_TIMEOUT = 120.0

PathText = Union[str, "os.PathLike[str]"]


class SandboxExecutor:
    """Made by create_executor(). May be used from any number of tasks and threads at once."""

    def __init__(self, policy: SandboxPolicy, handle: int) -> None:
        self.policy = policy
        self._handle = handle

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", 0), 0
        if handle:
            _native.library().harn_executor_free(handle)

    def execute(
        self,
        command: str,
        cwd: Optional[PathText] = None,
        timeout: Optional[float] = None,
        *,
        timeout_sec: Optional[float] = None,
        input: Union[str, bytes] = b"",
        on_stdout: Optional[OnText] = None,
        on_stderr: Optional[OnText] = None,
    ) -> Coroutine[Any, Any, ExecutionResult]:
        """Runs `command` with /bin/sh. `timeout` is in seconds of the clock, 120 by default; 0 means max_cpu_seconds.

        Pieces of output are handed to on_stdout and on_stderr in the loop's thread as they come. Cancelling the
        task ends every process of the command, then raises CancelledError.
        """
        return run_async(self._run(command, cwd, _either(timeout, timeout_sec), input), on_stdout, on_stderr)

    def execute_sync(
        self,
        command: str,
        cwd: Optional[PathText] = None,
        timeout: Optional[float] = None,
        *,
        input: Union[str, bytes] = b"",
        on_stdout: Optional[OnText] = None,
        on_stderr: Optional[OnText] = None,
    ) -> ExecutionResult:
        """The same for programs without a loop; the pieces are handed over on this thread.

        What on_stdout or on_stderr raise, and Ctrl-C, end every process of the command, and are raised from here.
        """
        return run_sync(self._run(command, cwd, timeout, input), on_stdout, on_stderr)

    def validate_command(self, command: str) -> Optional[str]:
        """None, or why the policy blocks it. A courtesy to whoever wrote the command; the kernel is the boundary."""
        raw = os.fsencode(command)
        if b"\0" in raw:
            raise ValueError("the command contains a NUL byte")
        blocked = _native.call("harn_executor_validate", self._handle, raw)["blocked"]
        return None if blocked is None else str(blocked)

    async def cleanup(self) -> None:
        """Waits for commands that run and removes what the executor made. Nothing can be executed afterwards.

        Awaiting it, or calling cleanup_sync(), in a piece of output waits for that command too, which goes on.
        """
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, self.cleanup_sync)

    def cleanup_sync(self) -> None:
        _native.call("harn_executor_cleanup", self._handle)

    def describe(self) -> Dict[str, Any]:
        """Mode, profile, backend, and notes on how the policy was read."""
        return _native.call("harn_executor_describe", self._handle)

    @property
    def notes(self) -> List[str]:
        return list(self.describe()["notes"])

    async def __aenter__(self) -> "SandboxExecutor":
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        await self.cleanup()

    def _run(self, command: str, cwd: Optional[PathText], timeout: Optional[float], input: Union[str, bytes]) -> Any:
        seconds = DEFAULT_TIMEOUT if timeout is None else float(timeout)
        if not seconds >= 0:
            raise ValueError(f"timeout is {timeout}; give seconds, or 0 for max_cpu_seconds")
        request: Dict[str, Any] = {"command": _native.text_value(command), "timeout_ms": int(seconds * 1000) or (1 if seconds > 0 else 0)}
        if within():
            request["within"] = within()
        if cwd is not None:
            request["cwd"] = _native.text_value(os.path.abspath(cwd))
        if input:
            request["input"] = _native.text_value(input)

        def run(stop: _native.Stop, output: Any) -> _native.Json:
            # Holds on to the executor while the command runs.
            return _native.run("harn_executor_execute", self._handle, request, stop, output)

        return run


def _either(timeout: Optional[float], timeout_sec: Optional[float]) -> Optional[float]:
    if timeout is not None and timeout_sec is not None:
        raise TypeError("timeout and timeout_sec are the same; give one of them")
    return timeout if timeout is not None else timeout_sec


def create_executor(
    policy: Optional[SandboxPolicy] = None,
    *,
    cwd: Optional[PathText] = None,
    environment: Optional[Mapping[str, str]] = None,
    audit: Optional[str] = None,
) -> SandboxExecutor:
    """An executor for a policy. `cwd` and `environment` are this process's unless given; they are read now, once.

    Runs are recorded in the log of `harn run`, to be read with `harn audit`, unless `audit` is "off".

    The first one of a boot takes a fraction of a second: what this host can enforce is tried, and remembered.
    """
    policy = SandboxPolicy() if policy is None else policy
    if not isinstance(policy, SandboxPolicy):
        raise TypeError(f"policy is a {type(policy).__name__}; give a SandboxPolicy (SandboxConfig.from_table(…).to_policy() makes one)")
    request: Dict[str, Any] = {"sandbox": policy.to_table(), "context": _native.context_value(cwd, environment)}
    if audit is not None:
        request["audit"] = audit
    executor = SandboxExecutor(policy, _native.create("harn_executor_create", request))
    if policy.mode == SandboxMode.PROCESS and executor.describe().get("backend") == "noop":
        warnings.warn("nothing on this host can confine a command; 'harn doctor' says why", RuntimeWarning, stacklevel=2)
    return executor
