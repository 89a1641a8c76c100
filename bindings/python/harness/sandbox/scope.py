# SPDX-License-Identifier: Apache-2.0
"""A policy for the work inside a with-block: for tools, for sub-agents. Nested ones intersect, leaving restores."""

from __future__ import annotations

import contextlib
import contextvars
import copy
from typing import Any, Dict, Iterator, List, Mapping, Tuple

_around: "contextvars.ContextVar[Tuple[Dict[str, Any], ...]]" = contextvars.ContextVar("harn_policy_scope", default=())


@contextlib.contextmanager
def policy_scope(policy: Mapping[str, Any], *, sub_agent: bool = False, allow_demotion: bool = False) -> Iterator[None]:
    """Every command and file operation started inside gets at most this, and at most what is around it.

    A task takes the scope it is created in along, a command the one it is asked for in; a thread starts without one. `policy` has the members of docs/policy.md; workspace_roots left
    out are those around it. With sub_agent the work costs one of the recursion_limit. Only code of the operator's
    sets allow_demotion, which lets a call ask for a weaker profile.
    """
    level = {"policy": copy.deepcopy(dict(policy)), "sub_agent": sub_agent, "allow_demotion": allow_demotion}
    token = _around.set((*_around.get(), level))
    try:
        yield
    finally:
        _around.reset(token)


def within() -> List[Dict[str, Any]]:
    """The scopes around the caller, outermost first, as libharn takes them."""
    return list(_around.get())
