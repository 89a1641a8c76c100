# SPDX-License-Identifier: Apache-2.0
"""What a sandbox allows, and how a command in it ended."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any, Dict, Mapping, Optional, Tuple

STRIP_ENV = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN")
DOCKER_IMAGE = "python:3.12-slim"


class Unset(Tuple[str, ...]):
    """An empty tuple nobody wrote. What is written empty allows nothing; this has a default instead."""

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Tuple[str, ...] = Unset()


class SandboxMode(str, enum.Enum):
    NONE = "none"
    PROCESS = "process"
    DOCKER = "docker"


@dataclasses.dataclass(frozen=True)
class ResourceLimits:
    """Each counts the whole process tree of one command."""

    max_memory_mb: int = 512
    max_cpu_seconds: int = 30
    max_processes: int = 64
    max_file_size_mb: int = 100


@dataclasses.dataclass(frozen=True)
class NetworkPolicy:
    allow_network: bool = False
    #: Only with allow_network. Not given: every host; an empty tuple: none.
    allowed_hosts: Tuple[str, ...] = UNSET
    blocked_ports: Tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True)
class SandboxPolicy:
    mode: SandboxMode = SandboxMode.PROCESS
    #: Not given: where the executor was created; an empty tuple: nothing.
    allowed_paths: Tuple[str, ...] = UNSET
    blocked_commands: Tuple[str, ...] = ()
    resource_limits: ResourceLimits = dataclasses.field(default_factory=ResourceLimits)
    network: NetworkPolicy = dataclasses.field(default_factory=NetworkPolicy)
    docker_image: str = DOCKER_IMAGE
    env_passthrough: Tuple[str, ...] = ()
    #: What is written here comes on top: the five names of STRIP_ENV never pass.
    strip_env: Tuple[str, ...] = STRIP_ENV

    def to_table(self) -> Dict[str, Any]:
        """The same as the table [sandbox] of .harness/config.toml."""
        limits, network = self.resource_limits, self.network
        table: Dict[str, Any] = {
            "enabled": True,
            "mode": SandboxMode(self.mode).value,
            "blocked_commands": list(self.blocked_commands),
            "max_memory_mb": limits.max_memory_mb,
            "max_cpu_seconds": limits.max_cpu_seconds,
            "max_processes": limits.max_processes,
            "max_file_size_mb": limits.max_file_size_mb,
            "network_access": network.allow_network,
            "blocked_ports": list(network.blocked_ports),
            "docker_image": self.docker_image,
            "env_passthrough": list(self.env_passthrough),
            "strip_env": list(dict.fromkeys((*STRIP_ENV, *self.strip_env))),
        }
        if not isinstance(self.allowed_paths, Unset):
            table["allowed_paths"] = [str(path) for path in self.allowed_paths]
        if not isinstance(network.allowed_hosts, Unset):
            table["allowed_hosts"] = list(network.allowed_hosts)
        return table


@dataclasses.dataclass(frozen=True)
class SandboxConfig:
    """The table [sandbox] of .harness/config.toml, flat as it is written."""

    enabled: bool = False
    mode: str = "process"
    allowed_paths: Tuple[str, ...] = UNSET
    blocked_commands: Tuple[str, ...] = ()
    max_memory_mb: int = 512
    max_cpu_seconds: int = 30
    network_access: bool = False
    docker_image: str = DOCKER_IMAGE
    max_processes: int = 64
    max_file_size_mb: int = 100
    allowed_hosts: Tuple[str, ...] = UNSET
    blocked_ports: Tuple[int, ...] = ()
    env_passthrough: Tuple[str, ...] = ()
    strip_env: Tuple[str, ...] = STRIP_ENV

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> "SandboxConfig":
        return cls(**{name: tuple(value) if isinstance(value, list) else value for name, value in table.items()})

    def to_policy(self) -> SandboxPolicy:
        return SandboxPolicy(
            mode=SandboxMode(self.mode),
            allowed_paths=self.allowed_paths,
            blocked_commands=self.blocked_commands,
            resource_limits=ResourceLimits(self.max_memory_mb, self.max_cpu_seconds, self.max_processes, self.max_file_size_mb),
            network=NetworkPolicy(self.network_access, self.allowed_hosts, self.blocked_ports),
            docker_image=self.docker_image,
            env_passthrough=self.env_passthrough,
            strip_env=self.strip_env,
        )


@dataclasses.dataclass(frozen=True)
class ExecutionResult:
    stdout: str
    exit_code: int  #: negative: ended by that signal; 1 blocked and 125 not run, both with an error
    timed_out: bool = False  #: by the clock or by processor time
    oom_killed: bool = False
    error: Optional[str] = None  #: why it did not run, or what could not be done afterwards
    stderr: str = ""
    stdout_bytes: bytes = b""
    stderr_bytes: bytes = b""
    cpu_exceeded: bool = False
    file_size_exceeded: bool = False
    processes_exceeded: bool = False
    output_truncated: bool = False
    killed_processes: int = 0
    not_recorded: Optional[str] = None  #: why the audit log lacks this run or its end
    cancelled: bool = False
    appeared: Tuple[str, ...] = ()  #: protected names that were not there before
    created_trusted: Tuple[str, ...] = ()  #: repositories the command made; git outside runs what they name
    denials: Tuple[Mapping[str, Any], ...] = ()  #: what was refused, and what would open it
    contacted: Tuple[Mapping[str, Any], ...] = ()  #: hosts reached through the relay, with bytes
    usage: Mapping[str, int] = dataclasses.field(default_factory=dict)
    receipt: Mapping[str, Any] = dataclasses.field(default_factory=dict)  #: what was asked for, what was enforced, how that is known

    @property
    def success(self) -> bool:
        return self.exit_code == 0 and not self.timed_out and self.error is None
