// SPDX-License-Identifier: Apache-2.0
// Directories read once, in place of hundreds of questions: most paths a plan asks about do not exist,
// and most of them would stand in the home directory or at the top of the project.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "harn/host.h"
#include "harn/path.h"
#include "sys/files.h"

namespace harn::host {

class Listings {
 public:
  // `directory` is spelled without links. One whose names would not tell is left out: unreadable, too
  // long to be worth reading, or ignoring the case of names.
  void add(const AbsPath& directory);

  // True only where a directory on the way was read and lacks the next name.
  bool known_absent(std::string_view path) const;

  // The directories in one, links left out. Read for this where it was too long before; none where that
  // is impossible, too.
  std::optional<std::vector<AbsPath>> directories_in(const AbsPath& directory) const;

  // As look_at() says.
  PathFact look(const AbsPath& path) const;

 private:
  struct Listing {
    AbsPath directory = {};
    std::vector<sys::Entry> entries = {};  // sorted by name

    sys::FileType type(std::string_view name) const;
    bool ignores_case() const;
  };

  std::vector<Listing> listings_ = {};  // longer names, and so deeper directories, first
};

}  // namespace harn::host
