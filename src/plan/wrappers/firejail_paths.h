// SPDX-License-Identifier: Apache-2.0
// The path rules of a policy in firejail's words. firejail starts from the whole host: a directory in
// "/" is emptied by whitelisting something inside it, then single paths are blacklisted or remounted
// in the order of the command line. What this cannot say is refused, or named exactly.
#pragma once

#include <string>
#include <vector>

#include "plan/lower.h"

namespace harn::plan {

struct FirejailPaths {
  std::vector<std::string> words = {};
  std::vector<AbsPath> absent = {};  // closed names that do not exist inside a writable path
  std::vector<AbsPath> links = {};   // at or above a closed name inside a writable path
  bool root_is_listed = false;       // the names in "/" are known, so none is left open
};

// --option=path. Fails for paths firejail would read as patterns or lists.
Result<std::string> firejail_word(std::string_view option, const AbsPath& path);

// Fails for paths firejail cannot name, and for grants it cannot open or close alone.
Result<FirejailPaths> firejail_paths(const PlanInput& input);

// A name that exists nowhere: whitelisting it empties its directory.
inline constexpr std::string_view firejail_nothing = ".harn-nothing";

}  // namespace harn::plan
