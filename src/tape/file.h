// SPDX-License-Identifier: Apache-2.0
// The file of a tape: where it ends, and whether that is where its writers left it.
#pragma once

#include "audit/files.h"
#include "sys/unique_fd.h"
#include "tape/head.h"

namespace harn::tape {

inline constexpr std::size_t longest_line = 16u << 20;  // a command line of the largest size, every character of it escaped
inline constexpr std::size_t piece_bytes = 1u << 20;    // of an output, in one line

// The kinds of lines.
inline constexpr std::string_view exec_line = "exec";
inline constexpr std::string_view output_line = "output";
inline constexpr std::string_view repair_line = "repair";

struct TapeEnd {
  std::string salt = {};
  Slot slot = {};                // the last whole append
  bool torn = false;             // a writer was killed in the middle of the next one
  std::uint64_t torn_bytes = 0;  // what it left of it
};

// Under a lock. An error where the file is not what its head says: cut off, added to, damaged.
Result<TapeEnd> find_end(int fd, const AbsPath& name);

// "'x.tape' is not as it was recorded: …"
std::unexpected<Error> not_as_recorded(const AbsPath& name, std::string_view why);

}  // namespace harn::tape
