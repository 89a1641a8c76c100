// SPDX-License-Identifier: Apache-2.0
// What was played of a tape, kept between calls. Whoever reads it holds it until they are done: two calls at once take turns, and the
// second sees what the first played.
#pragma once

#include <optional>

#include "audit/files.h"
#include "harn/tape.h"

namespace harn::embed {

class Cursor {
 public:
  // Marks what was played before; where there is no file yet, nothing was.
  static Result<Cursor> open(const AbsPath& file, Replay& replay);
  Status keep(const Replay& replay) const;

 private:
  explicit Cursor(AbsPath file) : file_(std::move(file)) {}
  AbsPath file_;
  sys::UniqueFd locked_ = {};  // its directory: the file is replaced, and a lock would go with it
  std::optional<audit::Lock> lock_ = {};
};

}  // namespace harn::embed
