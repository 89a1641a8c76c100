// SPDX-License-Identifier: Apache-2.0
// How a refused file operation is told: what was attempted, where that really is, and what would allow it.
#pragma once

#include <string_view>

#include "harn/policy.h"

namespace harn::files {

struct Attempt {
  std::string_view operation;  // "read_text", as the caller called it
  WorkspaceOp needs;           // the capability
  FileOp op;
};

// An error when the policy does not hand out the capability at all, whatever the path.
Status check_capability(const Policy& policy, const Attempt& attempt);

// `asked` is the caller's spelling, `real` where it leads.
Error violation(const Policy& policy, const Attempt& attempt, std::string_view asked, const AbsPath& real, const Decision& decision);

// A file at `real` would stand in the way of a protected name beneath it.
Error above_protected(const Attempt& attempt, const AbsPath& real, const AbsPath& beneath);

// A repository would begin to exist there, or lead elsewhere.
Error makes_repository(const Attempt& attempt, const AbsPath& real);

}  // namespace harn::files
