# SPDX-License-Identifier: Apache-2.0
"""Commands of AI agents, run by Harn inside a boundary the operating system enforces.

    from harness.sandbox.executor import create_executor
    from harness.types.sandbox import ResourceLimits, SandboxPolicy

    executor = create_executor(SandboxPolicy(resource_limits=ResourceLimits(max_memory_mb=64)))
    result = await executor.execute("make test", timeout=60)
"""

from harness.errors import LibraryNotFound, SandboxError

__all__ = ["LibraryNotFound", "SandboxError", "__version__"]
__version__ = "0.1.0"
