# SPDX-License-Identifier: Apache-2.0
"""The executor from Python, on the real kernel."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
import unittest
from typing import Any, List

from harness import SandboxError
from harness.sandbox import Sandbox, build_policy, load_config, sandbox_active_backend, sandbox_active_profile, sandbox_backend_available
from harness.sandbox.executor import create_executor
from harness.types.sandbox import STRIP_ENV, ResourceLimits, SandboxMode, SandboxPolicy
from support import SandboxTest, await_all, descriptors, processes_with

LEAK_ROUNDS = int(os.environ.get("HARNESS_LEAK_ROUNDS", "150"))


class Executing(SandboxTest):
    def test_what_appeared_is_told(self) -> None:
        result = create_executor(cwd=self.work).execute_sync("touch .envrc")
        self.assertEqual(result.appeared, (str(self.work / ".envrc"),))
        self.assertFalse(result.cancelled)

    def test_mistakes_of_the_caller_are_named(self) -> None:
        with self.assertRaisesRegex(TypeError, "give a SandboxPolicy"):
            create_executor({"mode": "process"})  # type: ignore[arg-type]
        with self.assertRaisesRegex(ValueError, "timeout is -1"):
            create_executor(cwd=self.work).execute_sync("true", timeout=-1)

    def test_output_exit_code_and_error(self) -> None:
        result = await_all(self.executor().execute("echo out; echo problem >&2; exit 42"))
        self.assertEqual((result.stdout, result.stderr, result.exit_code, result.error), ("out\n", "problem\n", 42, None))
        self.assertFalse(result.success)
        self.assertEqual(result.receipt["backend"], sandbox_active_backend())

    def test_input_and_bytes_that_are_no_text(self) -> None:
        result = await_all(self.executor().execute("cat", input=b"\xff\x00x"))
        self.assertEqual(result.stdout_bytes, b"\xff\x00x")
        self.assertEqual(result.stdout, "\ufffd\x00x")

    def test_runs_are_recorded_unless_nobody_wants_it(self) -> None:
        log = self.home / ".local" / "state" / "harn" / "audit"
        for audit in ("off", None):
            executor = create_executor(SandboxPolicy(blocked_commands=("curl",)), cwd=self.work, environment=self.environment(MY_TOKEN="hunter2"), audit=audit)
            await_all(executor.execute("echo hunter2"))
            await_all(executor.execute("curl -d hunter2 x"))
            self.assertEqual(log.exists(), audit is None)
        text = "".join(path.read_text() for path in log.glob("*.jsonl"))
        for event in ("policy_loaded", "plan_made", "exec_started", "exec_finished", "sandbox_refused"):
            self.assertIn(f'"event_type":"{event}"', text)
        self.assertNotIn("hunter2", text)
        with self.assertRaises(SandboxError):
            create_executor(cwd=self.work, audit="sometimes")

    def test_a_timeout_keeps_what_was_said(self) -> None:
        result = await_all(self.executor().execute("echo partial; sleep 60", timeout=0.3))
        self.assertTrue(result.timed_out)
        self.assertEqual(result.stdout, "partial\n")
        self.assertTrue(await_all(self.executor().execute("sleep 60", timeout_sec=0.2)).timed_out)

    def test_pieces_come_as_they_are_written(self) -> None:
        pieces: List[Any] = []

        async def main() -> None:
            loop = asyncio.get_running_loop()
            began = loop.time()
            await self.executor().execute("echo one; sleep 0.5; printf '\\303'; sleep 0.1; printf '\\244'; echo two >&2",
                                          on_stdout=lambda text: pieces.append((text, loop.time() - began)),
                                          on_stderr=lambda text: pieces.append((text, threading.current_thread() is threading.main_thread())))

        asyncio.run(main())
        self.assertEqual([piece[0] for piece in pieces if piece[0] != "two\n"], ["one\n", "ä"])
        first, second = (piece[1] for piece in pieces if piece[0] != "two\n")
        self.assertGreater(second - first, 0.3, "the first was told before the second was written")
        self.assertIn(("two\n", True), pieces)

    def test_cancelling_ends_the_whole_tree(self) -> None:
        async def main() -> float:
            executor = self.executor()
            task = asyncio.create_task(executor.execute("trap '' TERM; setsid sleep 98.75 & sleep 98.75"))
            while not processes_with("98.75"):
                await asyncio.sleep(0.01)
            began = time.monotonic()
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            self.assertEqual(processes_with("98.75"), [])
            self.assertEqual((await executor.execute("echo still here")).stdout, "still here\n")
            return time.monotonic() - began

        self.assertLess(asyncio.run(main()), 5)

    def test_wait_for_cancels_too(self) -> None:
        async def main() -> None:
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(self.executor().execute("sleep 97.75"), 0.3)

        asyncio.run(main())
        self.assertEqual(processes_with("97.75"), [])

    def test_64_at_once(self) -> None:
        async def main() -> List[str]:
            executor = self.executor()
            results = await asyncio.gather(*(executor.execute(f"sleep 0.2; echo {i}") for i in range(64)))
            return [result.stdout for result in results]

        self.assertEqual(asyncio.run(main()), [f"{i}\n" for i in range(64)])

    def test_no_descriptor_and_no_thread_is_left(self) -> None:
        async def main() -> None:
            executor = self.executor()
            await executor.execute("true")
            before = descriptors()
            for _ in range(LEAK_ROUNDS):
                result = await executor.execute("true")
                self.assertEqual((result.exit_code, result.error), (0, None))
            self.assertEqual(descriptors(), before)
            for _ in range(100):  # the last one is on its way out
                if threading.active_count() == 1:
                    break
                await asyncio.sleep(0.01)
            self.assertEqual(threading.active_count(), 1)
            await executor.cleanup()

        asyncio.run(main())

    def test_without_a_loop(self) -> None:
        pieces: List[str] = []
        result = self.executor().execute_sync("echo sync", on_stdout=pieces.append)
        self.assertEqual((result.stdout, pieces), ("sync\n", ["sync\n"]))

    def test_what_a_callback_raises_ends_the_command_and_arrives(self) -> None:
        for raised in (KeyboardInterrupt, ValueError):

            def interrupt(_text: str) -> None:
                raise raised("enough")

            with self.assertRaisesRegex(raised, "enough"):
                self.executor().execute_sync("echo one; setsid sleep 95.75 & sleep 95.75", on_stdout=interrupt)
            self.assertEqual(processes_with("95.75"), [])

    def test_ctrl_c_ends_a_command_that_says_nothing(self) -> None:
        timer = threading.Timer(0.5, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
        timer.start()
        began = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            self.executor().execute_sync("sleep 94.75")
        timer.join()
        self.assertLess(time.monotonic() - began, 10)
        self.assertEqual(processes_with("94.75"), [])

    def test_cleaning_up_while_a_command_runs(self) -> None:
        executor = self.executor()
        result = executor.execute_sync("echo one; sleep 0.2; echo two", on_stdout=lambda _text: executor.cleanup_sync())
        self.assertEqual((result.stdout, result.error), ("one\ntwo\n", None))
        self.assertEqual(executor.execute_sync("true").error, "the executor was cleaned up")

    def test_an_exit_code_that_looks_like_a_signal_is_one(self) -> None:
        for code in (152, 153):
            result = self.executor().execute_sync(f"exit {code}")
            self.assertEqual((result.exit_code, result.file_size_exceeded, result.timed_out), (code, False, False))

    def test_blocked_commands(self) -> None:
        executor = self.executor(blocked_commands=("rm -rf", "curl", "wget", "nc"))
        self.assertEqual(executor.validate_command("rm  -rf /"), "Command blocked by sandbox policy: contains 'rm -rf'")
        self.assertEqual(executor.validate_command("c''url x"), "Command blocked by sandbox policy: contains 'curl'")
        self.assertEqual(executor.validate_command("/usr/bin/curl x"), "Command blocked by sandbox policy: contains 'curl'")
        self.assertIsNone(executor.validate_command("rsync -a a b"))
        result = await_all(executor.execute("curl -d hunter2 x"))
        self.assertEqual((result.exit_code, result.error), (1, "Command blocked by sandbox policy: contains 'curl'"))

    def test_secrets_never_pass(self) -> None:
        secrets = {name: "leaked-" + name for name in STRIP_ENV}
        for mode in (SandboxMode.NONE, SandboxMode.PROCESS):
            for strip in ((), ("X",), STRIP_ENV):
                executor = self.executor(environment={**secrets, "PLAIN": "plain"}, mode=mode, strip_env=strip, env_passthrough=STRIP_ENV)
                result = await_all(executor.execute("env"))
                self.assertNotIn("leaked-", result.stdout)
                self.assertIn("PLAIN=plain", result.stdout)

    def test_limits(self) -> None:
        memory = await_all(self.executor(resource_limits=ResourceLimits(max_memory_mb=64)).execute("python3 -c \"x = 'a' * (100 * 1024 * 1024)\""))
        self.assertEqual((memory.exit_code, memory.oom_killed), (-9, True))
        size = await_all(self.executor(resource_limits=ResourceLimits(max_file_size_mb=1)).execute("dd if=/dev/zero of=big bs=1M count=3"))
        self.assertEqual((size.exit_code, size.file_size_exceeded), (-signal.SIGXFSZ, True))

    def test_what_cannot_run_is_a_result_with_an_error(self) -> None:
        result = await_all(self.executor().execute("true", cwd="/usr"))
        self.assertEqual(result.exit_code, 125)
        self.assertIn("sandbox violation: process cwd '/usr' is outside workspace_roots", result.error or "")

    def test_a_wrong_policy_is_raised(self) -> None:
        with self.assertRaises(SandboxError) as caught:
            self.executor(resource_limits=ResourceLimits(max_memory_mb=0))
        self.assertIn("max_memory_mb", str(caught.exception))

    def test_nothing_runs_after_cleanup(self) -> None:
        async def main() -> None:
            async with self.executor() as executor:
                self.assertTrue((await executor.execute("true")).success)
            self.assertEqual((await executor.execute("true")).error, "the executor was cleaned up")

        asyncio.run(main())

    def test_the_process_keeps_what_is_its_own(self) -> None:
        def state() -> List[Any]:
            handlers = [signal.getsignal(number) for number in range(1, signal.NSIG) if number not in (32, 33)]
            mask = os.umask(0)
            os.umask(mask)
            return [handlers, mask, os.getcwd(), dict(os.environ), signal.pthread_sigmask(signal.SIG_BLOCK, []), descriptors()]

        executor = self.executor()
        await_all(executor.execute("true"))
        before = state()
        await_all(executor.execute("cd /; umask 077; kill -TERM $PPID; export X=1; true"))
        self.assertEqual(state(), before)


class Around(SandboxTest):
    def test_diagnostics(self) -> None:
        self.assertEqual(sandbox_backend_available(), sandbox_active_backend() != "noop")
        self.assertEqual(sandbox_active_profile(), "unrestricted")
        self.assertEqual(sandbox_active_profile(self.executor()), "worktree")
        self.assertEqual(sandbox_active_profile(self.executor(mode=SandboxMode.NONE)), "unrestricted")

    def test_a_configuration_is_found_and_a_word_overrides_it(self) -> None:
        (self.work / ".harness").mkdir()
        (self.work / "src").mkdir()
        self.assertIsNone(load_config(self.work))
        self.assertEqual(build_policy(None).mode, SandboxMode.NONE)
        (self.work / ".harness/config.toml").write_text('[sandbox]\nenabled = true\nmode = "process"\nmax_memory_mb = 77\nallowed_paths = ["src"]\n')
        config = load_config(self.work / "src")
        assert config is not None
        policy = build_policy(config)
        self.assertEqual((policy.mode, policy.resource_limits.max_memory_mb), (SandboxMode.PROCESS, 77))
        self.assertEqual(policy.allowed_paths, (str(self.work / "src"),))
        self.assertEqual(build_policy(config, mode="none").mode, SandboxMode.NONE)
        executor = create_executor(policy, cwd=self.work / "src", environment=self.environment())
        self.assertTrue(await_all(executor.execute("echo x > made")).success)
        (self.work / ".harness/config.toml").write_text('[sandbox]\nmode = "proces"\n')
        with self.assertRaises(SandboxError):
            load_config(self.work)

    def test_policies_of_harn(self) -> None:
        sandbox = Sandbox({"sandbox_profile": "worktree", "limits": {"wall_time": "5s"}}, cwd=self.work, environment=self.environment())
        self.assertTrue(sandbox.describe()["digest"].startswith("policy-"))
        self.assertEqual(sandbox.plan(["true"])["argv"], ["true"])
        self.assertEqual(await_all(sandbox.run(["sh", "-c", "cat"], input="fed")).stdout, "fed")
        with self.assertRaises(SandboxError) as caught:
            await_all(sandbox.run(["no-such-program"]))
        self.assertEqual(caught.exception.code, "invalid_command")

    def test_mode_docker_runs_in_a_container_or_not_at_all(self) -> None:
        """tests/containers starts engines and runs commands in them; here there may be one or none."""
        executor = create_executor(SandboxPolicy(mode=SandboxMode.DOCKER), cwd=self.work, environment=self.environment())
        result = await_all(executor.execute("touch ran"))
        if result.error is None:
            self.assertEqual(result.receipt["backend"], "docker")
            self.assertTrue((self.work / "ran").exists())
        else:
            self.assertEqual(result.exit_code, 125)
            self.assertIn("docker", result.error)
            self.assertFalse((self.work / "ran").exists())


if __name__ == "__main__":
    unittest.main()
