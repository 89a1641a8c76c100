# sandbox_demo.py — demonstrates sandbox resource limits
import asyncio
from harness.sandbox.executor import create_executor
from harness.types.sandbox import SandboxPolicy, SandboxMode, ResourceLimits

async def main():
    policy = SandboxPolicy(
        mode=SandboxMode.PROCESS,
        resource_limits=ResourceLimits(
            max_memory_mb=64, # Very low — 64MB
            max_cpu_seconds=5, # Very short — 5 seconds
            max_processes=8, # Very few processes
        ),
        blocked_commands=("rm -rf", "curl", "wget"),
    )
    executor = create_executor(policy)

    # Test 1: Memory limit
    print("Test 1: Memory limit (64MB)...")
    result = await executor.execute("python3 -c \"x = 'a' * (100 * 1024 * 1024)\"")
    print(f" Exit: {result.exit_code}, OOM: {result.oom_killed}")
    # Expected: oom_killed=True

    # Test 2: CPU timeout
    print("Test 2: CPU timeout (5s)...")
    result = await executor.execute("python3 -c \"while True: pass\"")
    print(f" Exit: {result.exit_code}, Timed out: {result.timed_out}")
    # Expected: timed_out=True

    # Test 3: Blocked command
    print("Test 3: Blocked command...")
    error = executor.validate_command("rm -rf /")
    print(f" Validation: {error}")
    # Expected: "Command blocked by sandbox policy"

    # Test 4: Normal execution
    print("Test 4: Normal execution...")
    result = await executor.execute("echo 'Hello from sandbox!'")
    print(f" Output: {result.stdout.strip()}")
    print(f" Exit: {result.exit_code}")
    # Expected: "Hello from sandbox!", exit_code=0

    await executor.cleanup()

asyncio.run(main())
