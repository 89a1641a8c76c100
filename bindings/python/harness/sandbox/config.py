# SPDX-License-Identifier: Apache-2.0
"""The project's own settings: the table [sandbox] of .harness/config.toml."""

from __future__ import annotations

import dataclasses
import json
import os
from typing import Optional, Union

from harness import _native
from harness.types.sandbox import SandboxConfig, SandboxMode, SandboxPolicy


def load_config(start: Optional[Union[str, "os.PathLike[str]"]] = None) -> Optional[SandboxConfig]:
    """That of the nearest .harness/config.toml at or above `start`; None without one. Whoever calls this trusts the project."""
    request = {"start": _native.text_value(os.path.abspath(os.getcwd() if start is None else start))}
    answer = _native.call("harn_harness_config", json.dumps(request).encode())
    return SandboxConfig.from_table(answer["sandbox"]) if answer["found"] else None


def build_policy(config: Optional[SandboxConfig], mode: Optional[Union[str, SandboxMode]] = None) -> SandboxPolicy:
    """What the configuration means; `mode` is a word on the command line, which wins. Nothing configured or not enabled is mode none."""
    if mode is not None:
        base = config or SandboxConfig()
        return _with_mode(base, SandboxMode(mode))
    if config is None or not config.enabled:
        return _with_mode(config or SandboxConfig(), SandboxMode.NONE)
    return config.to_policy()


def _with_mode(config: SandboxConfig, mode: SandboxMode) -> SandboxPolicy:
    return dataclasses.replace(config.to_policy(), mode=mode)
