# SPDX-License-Identifier: Apache-2.0
"""A project that says in .harness/config.toml how its commands are run; a word on the command line overrides the mode."""
import asyncio
import os
import sys

from harness.sandbox import build_policy, create_executor, load_config

here = os.path.dirname(os.path.abspath(__file__))


async def main() -> None:
    policy = build_policy(load_config(here), mode=sys.argv[1] if len(sys.argv) > 1 else None)
    print(f"mode {policy.mode.value}, {policy.resource_limits.max_memory_mb} MB")
    async with create_executor(policy) as executor:
        print(executor.validate_command("nc -l 80"))
        print(executor.validate_command("rsync -a a b"))
        result = await executor.execute("echo licence: ${PROJECT_LICENCE-withheld}")
        print(result.error or result.stdout, end="")


os.environ["PROJECT_LICENCE"] = "secret"
asyncio.run(main())
