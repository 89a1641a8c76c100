# SPDX-License-Identifier: Apache-2.0
"""Runs code nobody has read: no network, no secrets, little memory, a few seconds, and an empty directory."""
import asyncio
import os
import shlex
import tempfile

from harness.sandbox.executor import create_executor
from harness.types.sandbox import ResourceLimits, SandboxPolicy

UNTRUSTED = """
import os, socket
print("key:", os.environ.get("ANTHROPIC_API_KEY", "NOT FOUND"))
try:
    socket.create_connection(("127.0.0.1", 9), timeout=2)
except OSError as refused:
    print("network:", refused.strerror)
try:
    open(os.path.expanduser("~/.ssh/id_rsa"))
except OSError as refused:
    print("ssh key:", refused.strerror)
print("memory:", end=" ", flush=True)
hoard = bytearray(512 * 1024 * 1024)
"""


async def run_untrusted(code: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        policy = SandboxPolicy(allowed_paths=(place,), resource_limits=ResourceLimits(max_memory_mb=128, max_cpu_seconds=5, max_processes=16))
        async with create_executor(policy, cwd=place) as executor:
            result = await executor.execute("python3 -c " + shlex.quote(code), timeout=20)
        print(result.stdout, end="")
        print("stopped at its limit" if result.oom_killed else f"exit {result.exit_code}")


os.environ["ANTHROPIC_API_KEY"] = "sk-not-for-you"
asyncio.run(run_untrusted(UNTRUSTED))
