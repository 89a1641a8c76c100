# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
import unittest

from harness.types.sandbox import STRIP_ENV, NetworkPolicy, ResourceLimits, SandboxConfig, SandboxMode, SandboxPolicy


class Types(unittest.TestCase):
    def test_defaults_are_harness(self) -> None:
        self.assertEqual(dataclasses.astuple(ResourceLimits()), (512, 30, 64, 100))
        policy = SandboxPolicy()
        self.assertEqual(policy.mode, SandboxMode.PROCESS)
        self.assertEqual((policy.allowed_paths, policy.blocked_commands, policy.env_passthrough), ((), (), ()))
        self.assertEqual(policy.network, NetworkPolicy(allow_network=False, allowed_hosts=(), blocked_ports=()))
        self.assertEqual(policy.docker_image, "python:3.12-slim")
        self.assertEqual(policy.strip_env, STRIP_ENV)
        self.assertEqual([mode.value for mode in SandboxMode], ["none", "process", "docker"])

    def test_values_do_not_change(self) -> None:
        with self.assertRaises(dataclasses.FrozenInstanceError):
            SandboxPolicy().mode = SandboxMode.NONE  # type: ignore[misc]

    def test_unset_is_not_empty(self) -> None:
        self.assertNotIn("allowed_paths", SandboxPolicy().to_table())
        self.assertEqual(SandboxPolicy(allowed_paths=()).to_table()["allowed_paths"], [])
        self.assertNotIn("allowed_hosts", SandboxPolicy().to_table())
        self.assertEqual(SandboxPolicy(network=NetworkPolicy(True, ())).to_table()["allowed_hosts"], [])

    def test_stripped_names_only_grow(self) -> None:
        self.assertEqual(SandboxPolicy(strip_env=("MINE",)).to_table()["strip_env"], [*STRIP_ENV, "MINE"])

    def test_a_configuration_becomes_a_policy(self) -> None:
        config = SandboxConfig.from_table({"enabled": True, "mode": "docker", "max_memory_mb": 7, "blocked_commands": ["nc"]})
        policy = config.to_policy()
        self.assertEqual(policy.mode, SandboxMode.DOCKER)
        self.assertEqual(policy.resource_limits, ResourceLimits(max_memory_mb=7))
        self.assertEqual(policy.blocked_commands, ("nc",))


if __name__ == "__main__":
    unittest.main()
