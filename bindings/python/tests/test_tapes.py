# SPDX-License-Identifier: Apache-2.0
"""Runs recorded, read and replayed from Python."""

from __future__ import annotations

import unittest
from typing import Any

from harness.errors import SandboxError
from harness.sandbox import Sandbox, read_tape
from support import SandboxTest


class TapesTest(SandboxTest):
    def sandbox(self, **options: Any) -> Sandbox:
        return Sandbox({"workspace_roots": [str(self.work)]}, cwd=self.work, environment=self.environment(), **options)

    def test_runs_are_recorded_read_and_replayed(self) -> None:
        tape = self.home / "x.tape"
        recording = self.sandbox(record=tape)
        recording.run_sync(["sh", "-c", "printf 'a\\377'; echo e >&2; touch ran; exit 3"])
        recording.run_sync(["echo", "two"])
        runs = read_tape(tape)
        self.assertEqual([run.exit_code for run in runs], [3, 0])
        self.assertEqual(runs[1].argv, ["echo", "two"])
        self.assertEqual((runs[0].stdout, runs[0].stderr), (b"a\xff", b"e\n"))
        self.assertEqual(runs[0].record["profile"], "worktree")
        (self.work / "ran").unlink()

        playing = self.sandbox(replay=tape)
        again = playing.run_sync(["sh", "-c", "printf 'a\\377'; echo e >&2; touch ran; exit 3"])
        self.assertEqual((again.exit_code, again.stdout_bytes), (3, b"a\xff"))
        self.assertFalse((self.work / "ran").exists())
        with self.assertRaisesRegex(SandboxError, "argv"):
            playing.run_sync(["echo", "three"])

    def test_a_tape_is_not_reached_through_a_planted_link(self) -> None:
        victim = self.home / "victim"
        victim.mkdir()
        (self.work / "tapes").symlink_to(victim)
        with self.assertRaisesRegex(SandboxError, "a link leads there"):
            self.sandbox(record=self.work / "tapes" / "run.tape")
        self.assertEqual(list(victim.iterdir()), [])

    def test_what_was_changed_is_refused(self) -> None:
        tape = self.home / "x.tape"
        self.sandbox(record=tape).run_sync(["echo", "one"])
        tape.write_bytes(tape.read_bytes().replace(b"one", b"two"))
        with self.assertRaisesRegex(SandboxError, "not as it was recorded"):
            read_tape(tape)


if __name__ == "__main__":
    unittest.main()
