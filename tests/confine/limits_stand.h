// SPDX-License-Identifier: Apache-2.0
// Where a limit is tried: who calls harn, and whether he may make user namespaces. Each run leaves
// nothing behind, which is checked after it.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "base/json.h"
#include "cli/run_program.h"
#include "support/temp_dir.h"

namespace harn::test {

struct Stand {
  std::string name = {};
  bool root = false;
  bool view = true;
};

inline void PrintTo(const Stand& stand, std::ostream* out) { *out << stand.name; }

std::vector<Stand> stands();  // those this machine offers to the caller
// Empty when this process can take that stand, else why not.
std::string why_not(const Stand& stand);

// What one run of harn said, and whether it cleaned up.
struct LimitRun {
  int exit_code = -1;
  base::Value outcome = {};
  std::string text = {};  // for messages

  bool flag(std::string_view name) const;
  std::int64_t number(std::string_view name) const;
  std::int64_t usage(std::string_view name) const;
  std::string output() const;
};

// A workspace with copies of harn and the hog that everybody can reach.
class LimitScene {
 public:
  explicit LimitScene(Stand stand);
  LimitScene(const LimitScene&) = delete;
  LimitScene& operator=(const LimitScene&) = delete;
  ~LimitScene();

  // harn run --json FLAGS -- hog WORDS, and afterwards nothing of it is left (a test failure).
  LimitRun run(const std::vector<std::string>& flags, const std::vector<std::string>& words) const;
  // The hog without harn, as the same user.
  ProgramRun bare(const std::vector<std::string>& words) const;

  AbsPath work(std::string_view name = {}) const { return temp_.path(std::string("work/") + std::string(name)); }
  // Joins this cgroup.procs file before anything else; empty = none.
  void set_outer_group(std::string procs_file) { outer_group_ = std::move(procs_file); }
  // Processes of the hog that are alive.
  std::vector<int> survivors() const;
  void end_survivors() const;

 private:
  std::vector<std::string> as_caller(std::vector<std::string> argv) const;
  ProgramRun call(std::vector<std::string> argv) const;
  void expect_nothing_left(const std::string& run_id) const;

  Stand stand_ = {};
  TempDir temp_ = {};
  std::string outer_group_ = {};
};

}  // namespace harn::test
