# SPDX-License-Identifier: Apache-2.0
"""Sandboxes that stay between programs: the contract of harn/session.h. Specs, sessions and snapshots are dicts as JSON has them."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

from harness import _native
from harness.errors import SandboxError

#: Where a command finds what is remembered, read-only, and where it leaves results.
MEMORY_MOUNT = "/mnt/memory"
OUTPUTS_MOUNT = "/mnt/session/outputs"

Path = Union[str, "os.PathLike[str]"]


class SessionError(SandboxError):
    """`kind` is session_not_found, unsupported, invalid_request, lifecycle, exec, network_policy, io, json or task."""

    def __init__(self, kind: str, detail: str, backend: str, error: SandboxError) -> None:
        super().__init__(error.args[0], code=error.code, category=error.category, hint=error.hint, where=error.where)
        self.kind = kind
        self.detail = detail
        self.backend = backend


@dataclass(frozen=True)
class ExecResult:
    stdout: str
    stderr: str
    exit_code: int
    timed_out: bool

    @property
    def success(self) -> bool:
        return self.exit_code == 0 and not self.timed_out


class SandboxBackend:
    """Sessions of one backend: "local", or "docker", "podman" or "container" with an image. They outlive this object and this program.

    May be used from any number of threads at once.
    """

    def __init__(
        self,
        backend: str = "local",
        *,
        profile: Optional[str] = None,
        root_dir: Optional[Path] = None,
        lifetime: Optional[float] = None,
        image: Optional[str] = None,
        cwd: Optional[Path] = None,
        environment: Optional[Mapping[str, str]] = None,
        audit: Optional[str] = None,
    ) -> None:
        """`lifetime` is in seconds. Without a root_dir every session has a fresh directory."""
        request: Dict[str, Any] = {"backend": backend, "context": _native.context_value(cwd, environment)}
        if root_dir is not None:
            request["root_dir"] = os.path.abspath(root_dir)
        if lifetime is not None:
            request["lifetime_ms"] = max(1, int(lifetime * 1000))
        for name, value in (("profile", profile), ("image", image), ("audit", audit)):
            if value is not None:
                request[name] = value
        self._handle = _native.create("harn_backend_open", request)

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", 0), 0
        if handle:
            _native.library().harn_backend_close(handle)

    @property
    def name(self) -> str:
        return str(self._call("harn_backend_describe")["name"])

    def capabilities(self) -> Dict[str, bool]:
        """As this host was proved to be able."""
        found: Dict[str, bool] = self._call("harn_backend_describe")["capabilities"]
        return found

    def create(
        self,
        session_id: Optional[str] = None,
        *,
        labels: Mapping[str, str] = {},
        network: Optional[Mapping[str, Any]] = None,
        mounts: Sequence[Mapping[str, str]] = (),
        wall_time: Optional[float] = None,
        cpu_count: Optional[int] = None,
        memory_mb: Optional[int] = None,
        idle_timeout: Optional[float] = None,
    ) -> Dict[str, Any]:
        """Its root is an empty directory of its own, in which commands start; a project is a mount, and the `cwd` of its commands.

        A network is {"mode": "unrestricted"}; a mount {"source", "target", "access"}. Times are in seconds.
        """
        limits = {
            "wall_time": _duration(wall_time),
            "cpu_count": cpu_count,
            "memory_mb": memory_mb,
            "idle_timeout": _duration(idle_timeout),
        }
        spec: Dict[str, Any] = {"session_id": session_id, "labels": dict(labels), "mounts": [dict(mount) for mount in mounts], "limits": limits}
        if network is not None:
            spec["network_policy"] = dict(network)
        return self._call("harn_session_create", _text(spec))

    def exec(
        self,
        session_id: str,
        command: str,
        *args: str,
        cwd: Optional[str] = None,
        env: Mapping[str, str] = {},
        stdin: Optional[Union[str, bytes]] = None,
        timeout: Optional[float] = None,
        stop: Optional[_native.Stop] = None,
        on_output: Optional[Callable[[int, bytes], None]] = None,
    ) -> ExecResult:
        """Blocks until the command is over. `on_output` is told each piece, with 1 or 2 for the stream, on this thread."""
        request: Dict[str, Any] = {
            "command": command,
            "args": list(args),
            "cwd": cwd,
            "env": dict(env),
            "stdin": None if stdin is None else _native.text_value(stdin),
            "timeout": _duration(timeout),
        }
        answer = self._checked(
            lambda: _native.call(
                "harn_session_exec",
                self._handle,
                session_id.encode(),
                _text(request),
                None if stop is None else stop.address,
                _native.output_callback(on_output),
                None,
            )
        )
        out, err = (_native.bytes_of(answer[name]).decode(errors="replace") for name in ("stdout", "stderr"))
        return ExecResult(out, err, answer["exit_code"], answer["timed_out"])

    def list(self) -> List[Dict[str, Any]]:
        found: List[Dict[str, Any]] = self._call("harn_session_list")["sessions"]
        return found

    def find(self, session_id: str) -> Dict[str, Any]:
        return self._call("harn_session_show", session_id.encode())

    def mount(self, session_id: str, target: str, source: Path = "", *, writable: bool = False) -> Dict[str, Any]:
        """Without a source it is a fresh directory."""
        access = "read_write" if writable else "read_only"
        mount = {"source": os.path.abspath(source) if source else "", "target": target, "access": access}
        return self._call("harn_session_mount", session_id.encode(), _text(mount))

    def network(self, session_id: str, policy: Mapping[str, Any]) -> Dict[str, Any]:
        return self._call("harn_session_network", session_id.encode(), _text(dict(policy)))

    def snapshot(self, session_id: str) -> Dict[str, Any]:
        return self._call("harn_session_snapshot", session_id.encode())

    def restore(self, snapshot: Mapping[str, Any], session_id: str) -> Dict[str, Any]:
        return self._call("harn_session_restore", session_id.encode(), _text(dict(snapshot)))

    def suspend(self, session_id: str) -> Dict[str, Any]:
        return self._call("harn_session_suspend", session_id.encode())

    def resume(self, session_id: str) -> Dict[str, Any]:
        return self._call("harn_session_resume", session_id.encode())

    def terminate(self, session_id: str) -> None:
        self._call("harn_session_terminate", session_id.encode())

    def gc(self) -> List[str]:
        """Clears away what killed programs and reboots left, and says whose it was."""
        cleared: List[str] = self._call("harn_session_gc")["cleared"]
        return cleared

    def _call(self, name: str, *arguments: Any) -> Dict[str, Any]:
        return self._checked(lambda: _native.call(name, self._handle, *arguments))

    @staticmethod
    def _checked(work: Callable[[], Dict[str, Any]]) -> Dict[str, Any]:
        try:
            return work()
        except SandboxError as error:
            kind = error.members.get("kind")
            if kind is None:
                raise
            raise SessionError(str(kind), str(error.members.get("detail", "")), str(error.members.get("backend", "")), error) from None


def _text(value: Any) -> bytes:
    return json.dumps(value).encode()


def _duration(seconds: Optional[float]) -> Optional[Dict[str, int]]:
    if seconds is None:
        return None
    nanos = max(0, int(seconds * 1_000_000_000))
    return {"secs": nanos // 1_000_000_000, "nanos": nanos % 1_000_000_000}
