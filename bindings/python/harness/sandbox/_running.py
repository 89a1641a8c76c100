# SPDX-License-Identifier: Apache-2.0
"""One command on a thread of its own, awaited by asyncio. Cancelling the task ends the command's whole tree first."""

from __future__ import annotations

import asyncio
import codecs
import functools
import queue
import threading
from typing import Any, Callable, Dict, List, Optional

from harness import _native
from harness.types.sandbox import ExecutionResult

OnText = Callable[[str], object]
#: Blocks until the command is over; given what stops it and who is told its output.
Run = Callable[[_native.Stop, Optional[Callable[[int, bytes], None]]], _native.Json]


def result_of(outcome: _native.Json) -> ExecutionResult:
    out, err = _native.bytes_of(outcome.get("stdout")), _native.bytes_of(outcome.get("stderr"))
    return ExecutionResult(
        stdout=out.decode(errors="replace"),
        stderr=err.decode(errors="replace"),
        stdout_bytes=out,
        stderr_bytes=err,
        exit_code=outcome["exit_code"],
        timed_out=outcome["timed_out"],
        oom_killed=outcome["oom_killed"],
        error=outcome.get("error") or None,
        not_recorded=outcome.get("not_recorded") or None,
        cpu_exceeded=outcome["cpu_exceeded"],
        file_size_exceeded=outcome["file_size_exceeded"],
        processes_exceeded=outcome["processes_exceeded"],
        output_truncated=outcome["output_truncated"],
        killed_processes=outcome["killed_processes"],
        cancelled=outcome.get("cancelled", False),
        appeared=tuple(outcome.get("appeared", ())),
        created_trusted=tuple(outcome.get("created_trusted", ())),
        denials=tuple(outcome.get("denials", ())),
        contacted=tuple(outcome.get("contacted", ())),
        usage=outcome["usage"],
        receipt=outcome["receipt"],
    )


def _teller(tell: Callable[[OnText, str], None], on_stdout: Optional[OnText], on_stderr: Optional[OnText]) -> Optional[Callable[[int, bytes], None]]:
    """Pieces of bytes to pieces of text: a character may be cut in two."""
    listeners = {1: on_stdout, 2: on_stderr}
    if on_stdout is None and on_stderr is None:
        return None
    decoders = {stream: codecs.getincrementaldecoder("utf-8")(errors="replace") for stream in listeners}

    def told(stream: int, data: bytes) -> None:
        listener, text = listeners[stream], decoders[stream].decode(data)
        if listener is not None and text:
            tell(listener, text)

    return told


async def run_async(run: Run, on_stdout: Optional[OnText] = None, on_stderr: Optional[OnText] = None) -> ExecutionResult:
    loop = asyncio.get_running_loop()
    over: "asyncio.Future[Dict[str, Any]]" = loop.create_future()
    stop = _native.Stop()

    def in_loop(function: Callable[..., object], *arguments: Any) -> None:
        try:
            loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:  # the loop was closed: nobody waits any more, so nobody needs the command
            stop.request()

    def settle(outcome: Optional[_native.Json], problem: Optional[BaseException]) -> None:
        if over.done():
            return
        if problem is not None:
            over.set_exception(problem)
        else:
            over.set_result(outcome or {})

    teller = _teller(lambda listener, text: in_loop(listener, text), on_stdout, on_stderr)

    def work() -> None:
        outcome, problem = None, None
        try:
            outcome = run(stop, teller)
        except BaseException as caught:  # for whoever awaits it
            problem = caught
        finally:
            stop.free()
        in_loop(settle, outcome, problem)

    # Not a daemon: one that the interpreter abandons inside the library would take the process down with it.
    thread = threading.Thread(target=work, name="harn-run", daemon=False)
    try:
        thread.start()
    except BaseException:
        stop.free()
        raise
    try:
        outcome = await asyncio.shield(over)
    except asyncio.CancelledError:
        stop.request()
        while not over.done():
            try:
                await asyncio.wait([over])
            except asyncio.CancelledError:  # asked again; the end is near already
                continue
        over.exception()  # seen, so that nobody is warned about it
        raise
    return result_of(outcome)


def run_sync(run: Run, on_stdout: Optional[OnText] = None, on_stderr: Optional[OnText] = None) -> ExecutionResult:
    """Waits where the interpreter can be interrupted: inside the library, and in what it calls back, nothing could be raised."""
    stop = _native.Stop()
    told: "queue.SimpleQueue[Optional[Callable[[], object]]]" = queue.SimpleQueue()
    ended: List[Any] = []

    def work() -> None:
        try:
            ended.append(run(stop, _teller(lambda listener, text: told.put(functools.partial(listener, text)), on_stdout, on_stderr)))
        except BaseException as caught:  # for whoever waits for it
            ended.append(caught)
        finally:
            told.put(None)

    thread = threading.Thread(target=work, name="harn-run", daemon=False)
    try:
        thread.start()
        while True:
            tell = told.get()
            if tell is None:
                break
            tell()
    finally:
        stop.request()  # harmless when it is over
        _join(thread)
        stop.free()
    if isinstance(ended[0], BaseException):
        raise ended[0]
    return result_of(ended[0])


def _join(thread: threading.Thread) -> None:
    """To the end, however often somebody interrupts: the end is near already."""
    interrupted: Optional[BaseException] = None
    while thread.is_alive():
        try:
            thread.join()
        except BaseException as again:
            interrupted = again
    if interrupted is not None:
        raise interrupted
