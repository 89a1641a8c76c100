// SPDX-License-Identifier: Apache-2.0
// From a plan to a process that has not run yet, and is known to be confined: every step that can fail fails here, and what
// was made until then is taken back. The system's word that a call worked is not believed; what it made is read again.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "harn/plan.h"
#include "run/windows/acl_grants.h"
#include "run/windows/calls.h"
#include "run/windows/program.h"

namespace harn::run::windows {

struct LaunchRequest {
  const Plan& plan;
  std::array<Handle, 3> streams = {};
  std::string run_id = {};  // makes the container's name one that never was: its SID follows from it
  IsFile is_file = {};
  std::string batch_interpreter = {};  // the absolute path of cmd.exe
};

// Owns the process, its job, its container and what was changed for it.
class Launched {
 public:
  explicit Launched(const Calls& calls) : calls_(&calls) {}
  Launched(Launched&& other) noexcept;
  Launched& operator=(Launched&&) = delete;
  ~Launched();

  Handle process() const { return child_.process; }
  Handle job() const { return job_; }
  bool confined() const { return journal_.has_value(); }
  // What earlier runs left, and what is not as it was; after finish(). No fault of this command.
  std::vector<std::string> take_notes() { return std::move(notes_); }

  Status resume();  // its first instruction
  // Ends whatever is left, and takes back what was changed. Returns what could not be, for people. Can be repeated.
  std::vector<std::string> finish();

 private:
  friend Result<Launched> launch(const Calls& calls, const LaunchRequest& request);
  Status start(const LaunchRequest& request);
  Status enter_container(const AppContainer& container, const LaunchRequest& request, SpawnRequest& spawn, Variables& variables);
  Status make_job(const JobSettings& settings);
  Status verify(const JobSettings& settings, const SpawnRequest& spawn) const;

  const Calls* calls_;
  Child child_ = {};
  Handle job_ = 0;
  std::optional<Journal> journal_ = {};
  std::vector<PathChange> changes_ = {};
  std::vector<std::string> notes_ = {};
};

// The process stands before its first instruction, verified; an error means that it is gone again, and nothing is left of it.
Result<Launched> launch(const Calls& calls, const LaunchRequest& request);

}  // namespace harn::run::windows
