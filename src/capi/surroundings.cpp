// SPDX-License-Identifier: Apache-2.0
#include "capi/surroundings.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "sys/files.h"

namespace harn::capi {

std::map<std::string, std::string> own_environment() {
  std::map<std::string, std::string> out;
  for (char** entries = environ; entries != nullptr && *entries != nullptr; ++entries) {
    const std::string_view entry = *entries;
    const auto equals = entry.find('=', 1);
    // Where a name stands twice, getenv() sees the first; so do we.
    if (equals != std::string_view::npos) out.try_emplace(std::string(entry.substr(0, equals)), entry.substr(equals + 1));
  }
  return out;
}

Result<AbsPath> own_directory() {
  char buffer[PATH_MAX];
  if (::getcwd(buffer, sizeof buffer) == nullptr) return fail(sys::os_failure("getcwd", "the working directory", errno, Stage::load));
  return AbsPath::parse(buffer);
}

}  // namespace harn::capi
