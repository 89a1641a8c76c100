// SPDX-License-Identifier: Apache-2.0
// A script replayed by a process of its own that ends with it: what takes rights in namespaces of others, and must not last.
#pragma once

#include "run/child/replay.h"
#include "run/prepared_parts.h"

namespace harn::run {

using ChildScript = int (*)(void*) noexcept;

// Both scripts and the stack they run on.
void settle(PreparedParts& parts);
// `flags`: of clone(). An error names the step that failed.
Status replay_aside(PreparedParts& parts, std::uint64_t flags, ChildScript script, std::string_view what);

}  // namespace harn::run
