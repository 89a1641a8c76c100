// SPDX-License-Identifier: Apache-2.0
// What a run is about to change in access control lists, written down before it changes anything: whoever comes after a
// crash can take it back. Reading is strict; what cannot be read is left for a person.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harn/path.h"

namespace harn::run::windows {

struct JournalChange {
  AbsPath path = {};
  std::string identity = {};             // of what stood there; another object that has its name later is none of ours
  bool stops = false;                    // inheritance ends here, because of this run or of one beside it
  bool stopped_before = false;           // … but it did before any run came: it stays so
  std::vector<std::string> copies = {};  // entries that were inherited until then

  bool operator==(const JournalChange&) const = default;
};

struct Journal {
  std::string container = {};  // its name
  std::string sid = {};
  std::uint64_t owner = 0;                  // process id
  std::uint64_t started = 0;                // … and when that process started: ids come again
  std::vector<JournalChange> changes = {};  // in the order they are made; undone backwards

  bool operator==(const Journal&) const = default;
};

std::string journal_to_json(const Journal& journal);
Result<Journal> journal_from_json(std::string_view text);

}  // namespace harn::run::windows
