# SPDX-License-Identifier: Apache-2.0
"""Harn's own policies, for what Harness's cannot say: every member of docs/policy.md, as a dict."""

from __future__ import annotations

import json
import os
from typing import Any, Coroutine, Dict, Mapping, Optional, Sequence, Union

from harness import _native
from harness.sandbox._running import OnText, run_async, run_sync
from harness.sandbox.files import Files
from harness.sandbox.scope import within
from harness.types.sandbox import ExecutionResult


class Sandbox:
    """A policy opened on this host. May be used from any number of tasks and threads at once."""

    def __init__(
        self,
        policy: Mapping[str, Any],
        *,
        cwd: Optional[Union[str, "os.PathLike[str]"]] = None,
        environment: Optional[Mapping[str, str]] = None,
        backend: Optional[str] = None,
        fallback: Optional[str] = None,
        audit: Optional[str] = None,
        record: Optional[Union[str, "os.PathLike[str]"]] = None,
        replay: Optional[Union[str, "os.PathLike[str]"]] = None,
        ignore: Sequence[str] = (),
        ignore_env: Sequence[str] = (),
    ) -> None:
        """`audit` is "off", "process" or "power"; runs are recorded in the log of `harn run` unless it is off.

        `record` names a tape that every run is added to. `replay` names one that answers in place of running anything: a run
        that is not the recorded one raises SandboxError with every difference; `ignore` (cwd, env, stdin, policy, order) and
        `ignore_env` (names of variables) say what may differ. read_tape() shows what is on a tape.
        """
        request: Dict[str, Any] = {"policy": dict(policy), "context": _native.context_value(cwd, environment)}
        if backend is not None:
            request["backend"] = backend
        if fallback is not None:
            request["fallback"] = fallback
        if audit is not None:
            request["audit"] = audit
        for name, tape in (("record", record), ("replay", replay)):
            if tape is not None:
                request[name] = _native.text_value(os.path.abspath(tape))
        if ignore:
            request["ignore"] = list(ignore)
        if ignore_env:
            request["ignore_env"] = list(ignore_env)
        self._handle = _native.create("harn_sandbox_open", request)

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", 0), 0
        if handle:
            _native.library().harn_sandbox_close(handle)

    def describe(self) -> Dict[str, Any]:
        """The policy as composed under the system's ceiling, its digest and its profile."""
        return _native.call("harn_sandbox_policy", self._handle)

    def files(self) -> Files:
        """The same policy for files, without a command. Ask again after a command changed what links lead to."""
        return Files(self._handle)

    def plan(self, argv: Sequence[str], **options: Any) -> Dict[str, Any]:
        """What the operating system would be told, and how much of the policy that enforces."""
        return _native.call("harn_sandbox_plan", self._handle, json.dumps(_request(argv, options)).encode())

    def run(
        self, argv: Sequence[str], *, on_stdout: Optional[OnText] = None, on_stderr: Optional[OnText] = None, **options: Any
    ) -> Coroutine[Any, Any, ExecutionResult]:
        """Options: cwd, environment, timeout (seconds), input, captured_bytes, profile (stricter), limits (smaller).

        A refusal raises SandboxError.
        """
        return run_async(self._run(argv, options), on_stdout, on_stderr)

    def run_sync(
        self, argv: Sequence[str], *, on_stdout: Optional[OnText] = None, on_stderr: Optional[OnText] = None, **options: Any
    ) -> ExecutionResult:
        return run_sync(self._run(argv, options), on_stdout, on_stderr)

    def _run(self, argv: Sequence[str], options: Mapping[str, Any]) -> Any:
        request = _request(argv, options)

        def run(stop: _native.Stop, output: Any) -> _native.Json:
            return _native.run("harn_sandbox_run", self._handle, request, stop, output)

        return run


def _request(argv: Sequence[str], options: Mapping[str, Any]) -> Dict[str, Any]:
    request: Dict[str, Any] = {"argv": [_native.text_value(word) for word in argv]}
    if within():
        request["within"] = within()
    for name, value in options.items():
        if name == "timeout":
            request["timeout_ms"] = max(1, int(float(value) * 1000))
        elif name == "cwd":
            request["cwd"] = _native.text_value(os.path.abspath(value))
        elif name == "input":
            request["input"] = _native.text_value(value)
        elif name == "environment":
            request["environment"] = {key: _native.text_value(text) for key, text in value.items()}
        else:
            request[name] = value
    return request
