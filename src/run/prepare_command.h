// SPDX-License-Identifier: Apache-2.0
// What a command brings along: its words, its environment and its limits, laid out for the child.
#pragma once

#include "run/prepared_parts.h"

namespace harn::run {

inline constexpr std::string_view open_files = "nofile";

// A limit the caller already has cannot be raised, and need not be.
Status write_limit(const ResourceLimit& limit, ScriptWriter& writer);

// argv, envp and where the program is looked for.
void freeze_command(const std::vector<std::string>& argv, const EnvPlan& env, PreparedParts& parts);

}  // namespace harn::run
