// SPDX-License-Identifier: Apache-2.0
// What one system has to do to confine a command. Everything is laid out before the child exists; there it is only
// replayed, with calls that are safe between fork and exec. The folder of the system implements it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harn/outcome.h"
#include "harn/plan.h"
#include "harn/result.h"

namespace harn::run {

// How the child failed; error 0 = nothing refused what had to be refused.
struct ChildFailure {
  std::int32_t step = 0;   // 1 = the first
  std::int32_t error = 0;  // errno
};

class Confining {
 public:
  // `canary`: a file outside every grant that must not open in the child. Empty = nothing is tried.
  static Result<Confining> prepare(const Plan& plan, const std::string& canary);
  Confining(Confining&&) noexcept;
  Confining& operator=(Confining&&) = delete;
  ~Confining();

  // What is executed: the command's own words, after those of a program that confines it.
  const std::vector<std::string>& argv() const;
  // In the child, just before exec. False with `failed` filled in where the command must not run.
  bool apply(ChildFailure& failed) const noexcept;
  // That step, for people: "unveil '/usr' with 'rx'".
  std::string describe(const ChildFailure& failed) const;
  // What apply() tried, and saw refused.
  std::vector<Dimension> proofs() const;
  // An exit code may be a confining program's own. An error where the command never ran.
  Status settle(const Plan& plan, Outcome& outcome) const;

 private:
  struct Parts;
  explicit Confining(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace harn::run
