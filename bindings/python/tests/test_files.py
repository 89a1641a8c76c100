# SPDX-License-Identifier: Apache-2.0
"""File operations and scopes: the same decisions as for commands, from Python."""

from __future__ import annotations

import asyncio
import os
import threading
import unittest

from harness.errors import SandboxError
from harness.sandbox import FileEntry, Sandbox, policy_scope
from support import SandboxTest, descriptors


class FilesTest(SandboxTest):
    def setUp(self) -> None:
        super().setUp()
        self.sandbox = Sandbox({}, cwd=self.work, environment=self.environment())
        self.files = self.sandbox.files()
        self.outside = self.root / "outside"
        self.outside.mkdir()
        (self.outside / "secret").write_text("secret")

    def refused(self, work: "unittest.case._AssertRaisesContext[SandboxError]") -> str:
        self.assertEqual(work.exception.category, "tool_rejected")
        return str(work.exception)

    def test_works_inside(self) -> None:
        self.files.write_text("a/b", b"\xff\x00")
        self.assertEqual(self.files.read_bytes("a/b"), b"\xff\x00")
        self.assertEqual(self.files.list("a"), [FileEntry("b", "file")])
        self.assertTrue(self.files.exists("a"))
        self.files.delete("a/b")
        self.files.delete_tree("a")
        self.assertFalse(self.files.exists("a"))
        self.assertEqual(os.listdir(self.work), [])

    def test_says_what_was_attempted(self) -> None:
        (self.work / "link").symlink_to(self.outside)
        for path in (self.outside / "secret", "link/secret", "../outside/secret"):
            with self.assertRaises(SandboxError) as caught:
                self.files.read_text(path)
            self.assertIn(
                f"sandbox violation: 'read_text' attempted to read '{self.outside}/secret' outside workspace_roots [{self.work}]",
                self.refused(caught),
            )
        with self.assertRaises(SandboxError) as caught:
            self.files.write_text("harn.toml", "")
        self.refused(caught)

    def test_other_errors_are_no_violations(self) -> None:
        with self.assertRaises(SandboxError) as caught:
            self.files.read_text("absent")
        self.assertNotEqual(caught.exception.category, "tool_rejected")

    def test_scopes_narrow_commands_and_files(self) -> None:
        (self.work / "a").mkdir()
        with policy_scope({"workspace_roots": [str(self.work / "a")]}):
            self.sandbox.run_sync(["sh", "-c", "echo x > f; echo x > ../g"], cwd=self.work / "a")
            with self.assertRaises(SandboxError) as caught:
                self.files.write_text("g", "x")
            self.refused(caught)
            # Nobody gets back what is taken away around him.
            with policy_scope({"workspace_roots": [str(self.work)]}), self.assertRaises(SandboxError):
                self.files.write_text("g", "x")
        self.assertEqual(sorted(os.listdir(self.work)), ["a"])
        self.assertEqual(os.listdir(self.work / "a"), ["f"])
        self.files.write_text("g", "x")

    def test_a_task_takes_its_scope_along(self) -> None:
        (self.work / "a").mkdir()

        async def write(path: str) -> str:
            await asyncio.sleep(0)
            try:
                self.files.write_text(path, "x")
            except SandboxError as problem:
                return problem.category
            return "written"

        async def main() -> "list[str]":
            with policy_scope({"workspace_roots": [str(self.work / "a")]}):
                inside = asyncio.create_task(write("g"))
            outside = asyncio.create_task(write("h"))
            return [await inside, await outside]

        self.assertEqual(asyncio.run(main()), ["tool_rejected", "written"])

    def test_a_scope_never_gives(self) -> None:
        for widening in (
            {"sandbox_profile": "unrestricted"},
            {"read_only_roots": [str(self.outside)]},
            {"process_sandbox": {"read_roots": [str(self.outside)]}},
        ):
            with policy_scope(widening):
                self.assertNotIn("secret", self.sandbox.run_sync(["cat", str(self.outside / "secret")]).stdout)
                with self.assertRaises(SandboxError):
                    self.files.read_text(self.outside / "secret")

    def test_a_command_takes_the_scope_it_was_asked_for_in(self) -> None:
        policy = {"workspace_roots": [str(self.work)], "side_effect_level": "read_only"}

        async def main() -> None:
            with policy_scope(policy):
                waiting = self.sandbox.run(["true"])
                policy["side_effect_level"] = "process_exec"  # too late
            await waiting

        with self.assertRaises(SandboxError) as caught:
            asyncio.run(main())
        self.refused(caught)

    def test_an_empty_environment_is_one(self) -> None:
        sandbox = Sandbox({}, cwd=self.work, environment=self.environment(VISIBLE="1"))
        self.assertIn("VISIBLE", sandbox.run_sync(["/usr/bin/env"]).stdout)
        self.assertNotIn("VISIBLE", sandbox.run_sync(["/usr/bin/env"], environment={}).stdout)
        with self.assertRaises(SandboxError):
            sandbox.run_sync(["/usr/bin/env"], environment={"GITHUB_TOKEN=x": ""})

    def test_sub_agents_run_out(self) -> None:
        with policy_scope({"recursion_limit": 1}), policy_scope({}, sub_agent=True):
            self.assertTrue(self.files.exists("."))
            with policy_scope({}, sub_agent=True), self.assertRaises(SandboxError) as caught:
                self.files.exists(".")
        self.assertIn("recursion_limit", self.refused(caught))

    def test_one_call_may_only_promote(self) -> None:
        self.assertEqual(self.sandbox.run_sync(["true"], profile="os_hardened").receipt["profile"], "os_hardened")
        with self.assertRaises(SandboxError) as caught:
            self.sandbox.run_sync(["true"], profile="unrestricted")
        self.refused(caught)
        self.assertTrue(self.sandbox.run_sync(["sleep", "60"], limits={"wall_time": "200ms"}).timed_out)

    def test_races_and_descriptors(self) -> None:
        (self.work / "d").mkdir()
        (self.work / "d" / "f").write_text("inside")
        (self.outside / "f").write_text("outside")
        (self.work / "l").symlink_to(self.outside)
        over = threading.Event()

        def swap() -> None:
            names = [self.work / "d", self.work / "t", self.work / "l"]
            while not over.is_set():
                for source, target in ((names[0], names[1]), (names[2], names[0]), (names[0], names[2]), (names[1], names[0])):
                    os.rename(source, target)

        thread = threading.Thread(target=swap)
        before = descriptors()
        thread.start()
        seen = set()
        try:
            for _ in range(3000):
                try:
                    seen.add(self.files.read_text("d/f"))
                    self.files.write_text("d/f", "inside")
                except SandboxError:
                    seen.add("refused")
        finally:
            over.set()
            thread.join()
        self.assertLessEqual(seen, {"inside", "refused"})
        self.assertEqual((self.outside / "f").read_text(), "outside")
        self.assertEqual(descriptors(), before)


if __name__ == "__main__":
    unittest.main()
