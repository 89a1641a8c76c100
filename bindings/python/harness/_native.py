# SPDX-License-Identifier: Apache-2.0
"""libharn.so, found and called. JSON in, JSON out; the only file here that knows ctypes."""

from __future__ import annotations

import base64
import ctypes
import json
import os
import pathlib
import threading
from typing import Any, Callable, Dict, List, Mapping, Optional, Union

from harness.errors import LibraryNotFound, SandboxError

ABI = 1
LIBRARY = "libharn.so"
SONAME = "libharn.so.1"

Json = Dict[str, Any]
OutputCallback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t)


def _candidates() -> List[pathlib.Path]:
    package = pathlib.Path(__file__).resolve().parent
    tree = package.parent.parent.parent
    return [package / SONAME, package / LIBRARY, tree / "build" / "release" / LIBRARY]


def find_library() -> str:
    """HARN_LIBRARY, then beside this package, then build/release of the source tree, then wherever the system looks."""
    named = os.environ.get("HARN_LIBRARY")
    if named is not None:
        if not os.path.exists(named):
            raise LibraryNotFound(f"HARN_LIBRARY names {named!r}, which does not exist")
        return os.path.abspath(named)
    for path in _candidates():
        if path.exists():
            return str(path)
    return SONAME


def _declare(library: ctypes.CDLL) -> None:
    text, pointer, made = ctypes.c_char_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)
    run = [pointer, text, pointer, OutputCallback, pointer]
    # Text that must be freed is a plain address here: c_char_p would copy it and lose the address.
    for name, arguments, result in [
        ("harn_abi", [], ctypes.c_int),
        ("harn_version", [], text),
        ("harn_free", [pointer], None),
        ("harn_stop_create", [], pointer),
        ("harn_stop_request", [pointer], None),
        ("harn_stop_free", [pointer], None),
        ("harn_sandbox_open", [text, made], pointer),
        ("harn_tape_read", [text], pointer),
        ("harn_sandbox_close", [pointer], None),
        ("harn_sandbox_policy", [pointer], pointer),
        ("harn_sandbox_plan", [pointer, text], pointer),
        ("harn_sandbox_run", run, pointer),
        ("harn_files_open", [pointer, made], pointer),
        ("harn_files_close", [pointer], None),
        ("harn_files_do", [pointer, text], pointer),
        ("harn_executor_create", [text, made], pointer),
        ("harn_executor_cleanup", [pointer], pointer),
        ("harn_executor_free", [pointer], None),
        ("harn_executor_describe", [pointer], pointer),
        ("harn_executor_validate", [pointer, text], pointer),
        ("harn_executor_execute", run, pointer),
        ("harn_harness_config", [text], pointer),
        ("harn_backend_open", [text, made], pointer),
        ("harn_backend_close", [pointer], None),
        ("harn_backend_describe", [pointer], pointer),
        ("harn_session_create", [pointer, text], pointer),
        ("harn_session_exec", [pointer, text, text, pointer, OutputCallback, pointer], pointer),
        ("harn_session_list", [pointer], pointer),
        ("harn_session_show", [pointer, text], pointer),
        ("harn_session_mount", [pointer, text, text], pointer),
        ("harn_session_network", [pointer, text, text], pointer),
        ("harn_session_snapshot", [pointer, text], pointer),
        ("harn_session_restore", [pointer, text, text], pointer),
        ("harn_session_suspend", [pointer, text], pointer),
        ("harn_session_resume", [pointer, text], pointer),
        ("harn_session_terminate", [pointer, text], pointer),
        ("harn_session_gc", [pointer], pointer),
        ("harn_sandbox_active_backend", [text], pointer),
        ("harn_sandbox_backend_available", [text], pointer),
        ("harn_sandbox_active_profile", [pointer], pointer),
    ]:
        function = getattr(library, name)
        function.argtypes, function.restype = arguments, result


_loaded: Optional[ctypes.CDLL] = None
_loading = threading.Lock()


def library() -> ctypes.CDLL:
    global _loaded
    with _loading:
        if _loaded is None:
            path = find_library()
            try:
                found = ctypes.CDLL(path)
                found.harn_abi.restype = ctypes.c_int
                abi = found.harn_abi()
            except (OSError, AttributeError) as problem:
                raise LibraryNotFound(f"{path} cannot be used ({problem}); build it with './dev build' or set HARN_LIBRARY") from None
            if abi != ABI:
                raise LibraryNotFound(f"{path} speaks ABI {abi}, this package {ABI}; install both from the same release")
            _declare(found)
            _loaded = found
        return _loaded


def _decoded(address: Optional[int]) -> Json:
    if not address:
        raise MemoryError("libharn has no memory left for an answer")
    try:
        answer: Json = json.loads(ctypes.string_at(address))
    finally:
        library().harn_free(address)
    return answer


def _checked(answer: Json) -> Json:
    error = answer.get("error")
    if isinstance(error, dict):  # a text is what a command that ran has to report
        raise SandboxError.from_json(error)
    return answer


def text_value(text: Union[str, bytes]) -> Any:
    """Text as JSON carries it; bytes that are no UTF-8 go as base64."""
    raw = text if isinstance(text, bytes) else os.fsencode(text) if _has_surrogates(text) else text.encode()
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(raw).decode()}


def _has_surrogates(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def bytes_of(value: Any) -> bytes:
    if isinstance(value, dict):
        return base64.b64decode(value["base64"])
    return str(value).encode() if value is not None else b""


def context_value(cwd: Optional[Union[str, "os.PathLike[str]"]], environment: Optional[Mapping[str, str]]) -> Json:
    variables = os.environ if environment is None else environment
    place = os.path.abspath(os.getcwd() if cwd is None else cwd)
    # Values may be any bytes; a name that is no text belongs to nobody a policy could mean.
    return {
        "environment": {name: text_value(value) for name, value in variables.items() if not _has_surrogates(name)},
        "cwd": text_value(place),
    }


def call(name: str, *arguments: Any) -> Json:
    return _checked(_decoded(getattr(library(), name)(*arguments)))


def create(name: str, request: Json) -> int:
    return create_from(name, json.dumps(request).encode())


def create_from(name: str, source: Any) -> int:
    error = ctypes.c_void_p()
    made = getattr(library(), name)(source, ctypes.byref(error))
    if made:
        return int(made)
    _checked(_decoded(error.value))
    raise SandboxError("libharn answered without a reason")


class Stop:
    """Ends a command from another thread; harmless before it began and after it is over."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._address: Optional[int] = library().harn_stop_create()
        if not self._address:
            raise OSError("no descriptor is left to stop a command with")

    @property
    def address(self) -> Optional[int]:
        return self._address

    def request(self) -> None:
        with self._lock:
            if self._address:
                library().harn_stop_request(self._address)

    def free(self) -> None:
        with self._lock:
            address, self._address = self._address, None
        if address:
            library().harn_stop_free(address)


def output_callback(output: Optional[Callable[[int, bytes], None]]) -> Any:
    def told(_user: Optional[int], stream: int, data: Any, size: int) -> None:
        if output is not None:
            output(stream, ctypes.string_at(data, size))

    return OutputCallback(told) if output is not None else OutputCallback()


def run(name: str, handle: int, request: Json, stop: Stop, output: Optional[Callable[[int, bytes], None]]) -> Json:
    """Blocks until the command is over. `output` is called on this thread."""
    return call(name, handle, json.dumps(request).encode(), stop.address, output_callback(output), None)
