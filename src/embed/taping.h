// SPDX-License-Identifier: Apache-2.0
// One run on its way to a tape: what it is before it starts, every byte that passes, and how it ended.
#pragma once

#include <optional>

#include "base/sha256.h"
#include "embed/own_files.h"
#include "embed/places.h"
#include "harn/sandbox.h"
#include "harn/tape.h"

namespace harn::embed {

// As it is recorded and compared; `environment` is the caller's.
struct Described {
  RunRecord record = {};
  std::vector<std::string> secrets = {};  // what was taken out of it
};
Described described_run(const Policy& policy, const Command& command, const AbsPath& cwd, std::string_view salt);

class Taping {
 public:
  explicit Taping(Described begun) : record_(std::move(begun.record)), secrets_(std::move(begun.secrets)) {}
  Taping(const Taping&) = delete;
  Taping& operator=(const Taping&) = delete;

  // Streams that would be handed over are tapped, so that every byte passes here. Outlives the run.
  void listen(RunOptions& options);

  // The run is over, or did not start.
  const RunRecord& finish(const Plan& plan, const Result<Outcome>& outcome);

 private:
  struct Kept {
    base::Sha256 sum = {};
    std::string bytes = {};
    void add(std::string_view piece);
    TapedOutput take();
  };
  RunRecord record_;
  std::vector<std::string> secrets_;
  Kept out_ = {};
  Kept err_ = {};
  base::Sha256 input_ = {};
  bool input_ended_ = false;
  bool told_[2] = {false, false};  // outputs that come through on_output
};

// A file of ours that the command must not reach, closed where the policy would open it. An error where nothing on this host
// could keep it closed.
Status withhold(const AbsPath& file, HostFacts& facts, Policy& policy, PathRules& rules, const PlanOptions& options);

// A divergence where a value was expected.
Error diverged(const std::vector<Divergence>& divergences);

}  // namespace harn::embed
