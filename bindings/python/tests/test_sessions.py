# SPDX-License-Identifier: Apache-2.0
"""The whole contract of sessions from Python."""

from __future__ import annotations

import pathlib
import stat
import threading
import unittest

from harness import _native
from harness.sandbox import MEMORY_MOUNT, OUTPUTS_MOUNT, SandboxBackend, SessionError
from support import SandboxTest, descriptors


class SessionsTest(SandboxTest):
    def setUp(self) -> None:
        super().setUp()
        self.run_dir = self.root / "run"
        self.run_dir.mkdir(mode=stat.S_IRWXU)
        self.backend = self.open()
        self.addCleanup(self.end_all)

    def open(self) -> SandboxBackend:
        return SandboxBackend(cwd=self.work, environment=self.environment(XDG_RUNTIME_DIR=str(self.run_dir)), audit="off", profile="worktree")

    def end_all(self) -> None:
        for session in self.backend.list():
            self.backend.terminate(session["id"])

    def kind(self, work: "unittest.case._AssertRaisesContext[SessionError]") -> str:
        return work.exception.kind

    def test_life(self) -> None:
        self.assertEqual(self.backend.name, "local")
        self.assertTrue(self.backend.capabilities()["snapshot"])
        session = self.backend.create("work", labels={"team": "a"}, wall_time=30, memory_mb=512)
        self.assertEqual((session["id"], session["state"], session["backend"]), ("work", "running", "local"))
        result = self.backend.exec("work", "sh", "-c", "cat; echo err >&2; exit 3", stdin=b"\xff in")
        self.assertEqual((result.stdout, result.stderr, result.exit_code, result.success), ("\ufffd in", "err\n", 3, False))
        self.assertTrue(self.backend.exec("work", "sleep", "9", timeout=0.1).timed_out)
        self.assertEqual(self.backend.exec("work", "pwd").stdout.strip(), session["metadata"]["root"])
        self.assertEqual(self.backend.exec("work", "sh", "-c", "echo $A", env={"A": "b"}).stdout, "b\n")
        self.assertEqual(self.backend.suspend("work")["state"], "suspended")
        self.assertEqual(self.backend.resume("work")["state"], "running")
        self.assertEqual([one["id"] for one in self.open().list()], ["work"])
        self.assertEqual(self.backend.find("work")["metadata"]["label.team"], "a")
        self.assertEqual(self.backend.gc(), [])
        self.backend.terminate("work")
        with self.assertRaises(SessionError) as caught:
            self.backend.find("work")
        self.assertEqual(self.kind(caught), "session_not_found")
        self.assertEqual(caught.exception.detail, "work")

    def test_files(self) -> None:
        session = self.backend.create()
        name = session["id"]
        shown = {mount["target"]: pathlib.Path(mount["host_path"]) for mount in session["mounts"]}
        (shown[MEMORY_MOUNT] / "note").write_text("remembered")
        self.assertEqual(self.backend.exec(name, "sh", "-c", "cat $HARN_MEMORY_DIR/note; echo made > $HARN_OUTPUTS_DIR/result").stdout, "remembered")
        self.assertEqual((shown[OUTPUTS_MOUNT] / "result").read_text(), "made\n")
        taken = self.backend.snapshot(name)
        self.backend.exec(name, "sh", "-c", "rm $HARN_OUTPUTS_DIR/result")
        self.backend.restore(taken, name)
        self.assertEqual((shown[OUTPUTS_MOUNT] / "result").read_text(), "made\n")
        data = self.root / "data"
        data.mkdir()
        (data / "f").write_text("given")
        after = self.backend.mount(name, "/mnt/data", data)
        self.assertEqual(len(after["mounts"]), 3)
        self.assertEqual(self.backend.exec(name, "cat", "/mnt/data/f").stdout, "given")

    def test_errors(self) -> None:
        name = self.backend.create()["id"]
        for kind, work in {
            "invalid_request": lambda: self.backend.exec(name, " "),
            "exec": lambda: self.backend.exec(name, "no-such-program"),
            "unsupported": lambda: self.backend.network(name, {"mode": "unrestricted"}),
            "json": lambda: self.backend.network(name, {"mode": "open"}),
            "lifecycle": lambda: self.backend.create(name),
        }.items():
            with self.assertRaises(SessionError) as caught:
                work()
            self.assertEqual(self.kind(caught), kind)

    def test_threads_streams_and_stops(self) -> None:
        name = self.backend.create()["id"]
        self.backend.exec(name, "true")  # from here on one connection waits for the next command
        before = descriptors()
        said = [""] * 8

        def run(number: int) -> None:
            said[number] = self.backend.exec(name, "sh", "-c", f"sleep 0.05; echo {number}").stdout

        threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(said, [f"{number}\n" for number in range(8)])
        pieces = []
        stop = _native.Stop()
        timer = threading.Timer(0.2, stop.request)
        timer.start()
        self.backend.exec(name, "sh", "-c", "echo now; sleep 30", stop=stop, on_output=lambda stream, data: pieces.append((stream, data)))
        timer.join()
        stop.free()
        self.assertEqual(pieces, [(1, b"now\n")])
        self.assertEqual(descriptors(), before)


if __name__ == "__main__":
    unittest.main()
