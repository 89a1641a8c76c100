// SPDX-License-Identifier: Apache-2.0
// One run of a command that is being learned: as 'harn run --policy' would do it, watched or not, with
// whatever it changes put aside and forgotten.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/args.h"
#include "cli/prepare.h"
#include "harn/outcome.h"

namespace harn::cli {

struct LearnRun {
  std::string policy = {};              // the text
  std::vector<std::string> flags = {};  // --timeout, --cwd
  std::vector<std::string> command = {};
  bool watched = false;
  bool keep = false;         // what it changes stays
  bool interactive = false;  // the terminal is the command's
};

struct LearnOutcome {
  Outcome outcome = {};
  Prepared prepared = {};
  bool discarded = false;  // nothing it changed is left
};

// A directory of Harn's own for the time of learning.
class LearnPlace {
 public:
  static Result<LearnPlace> make(const Caller& caller);
  LearnPlace(LearnPlace&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  LearnPlace& operator=(LearnPlace&&) = delete;
  ~LearnPlace();
  const AbsPath& path() const { return *path_; }

 private:
  explicit LearnPlace(AbsPath path) : path_(std::move(path)) {}
  std::optional<AbsPath> path_;
};

using Watching = std::function<void(const Refused&, const Prepared&)>;
Result<LearnOutcome> run_for_learning(const LearnRun& run, const LearnPlace& place, const Caller& caller, const Watching& watching);

}  // namespace harn::cli
