// SPDX-License-Identifier: Apache-2.0
// Following a path the way the kernel would, but on descriptors of ours and one name at a time, so that
// we know where it really ended and can act exactly there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harn/path.h"
#include "sys/files.h"
#include "sys/unique_fd.h"

namespace harn::files {

enum class LastLink : std::uint8_t {
  follow,
  keep  // the name itself is meant, not what it leads to
};

// Where a path ended. With nothing missing, `names` is the one name in `directory`, or empty for "/".
struct Place {
  AbsPath real = {};                            // every link followed, the missing rest as it stands
  sys::UniqueFd directory = {};                 // the deepest directory on the way, for *at() calls
  std::vector<std::string> names = {};          // from there; more than one when directories are missing
  sys::FileType type = sys::FileType::missing;  // of what is there
  int error = 0;                                // why the walk ended before its last name, where it was not "missing"
  std::string_view name() const { return names.empty() ? std::string_view(".") : std::string_view(names.back()); }
};

// An error only where nothing at all can be said (no descriptors left). What the path runs into is in
// the place, because whether the caller may know it depends on where that is.
Result<Place> walk(const AbsPath& start, std::string_view path, LastLink last);

}  // namespace harn::files
