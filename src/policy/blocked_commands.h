// SPDX-License-Identifier: Apache-2.0
// The blocked-command check: a courtesy to the agent, never the boundary.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace harn::policy {

// Nothing, or "Command blocked by sandbox policy: contains '<entry>'" (whitespace collapsed).
// Single-word entries match shell words (quotes and escapes undone, basename of a command word), so
// "nc" does not block "rsync" and c''url does not pass; multi-word entries match as substrings.
std::optional<std::string> validate_command(const std::set<std::string>& blocked, std::string_view command);

}  // namespace harn::policy
