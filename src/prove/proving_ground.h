// SPDX-License-Identifier: Apache-2.0
// A place to try mechanisms in: a private directory with a workspace and, beside it, a file that must
// stay out of reach. Small plans come from make_plan() and run by run_plan(), so what is proved is
// what will be used.
#pragma once

#include <optional>
#include <vector>

#include "harn/plan.h"
#include "run/launch.h"
#include "sys/own_directory.h"

namespace harn::prove {

class ProvingGround {
 public:
  // Fails when no directory can be made, or when the file is out of reach without any confinement.
  static Result<ProvingGround> make(const HostFacts& claimed);

  const HostFacts& facts() const { return facts_; }
  AbsPath canary() const { return directory_.path().join("canary"); }
  const AbsPath& root() const { return directory_.path(); }

  // Confines a small command by `backend` on a host with these mechanisms only: it must run, write in
  // its workspace, and not read the canary.
  Status run_small(const LinuxFacts& linux, Backend backend = Backend::linux) const;

  // The same without a view, under a supervisor: what it writes is opened for it, and a place that is kept
  // read-only inside its workspace must stay so.
  Status run_supervised(const LinuxFacts& linux) const;

  // The same plan for the caller to try more on. `loopback` asks for a network of its own.
  Result<Plan> small_plan(const LinuxFacts& linux, Backend backend, bool loopback = false) const;

  // A plan without any policy: exactly these layers, around a command that does nothing.
  Plan bare_plan(LinuxConfinement layers) const;

 private:
  explicit ProvingGround(sys::OwnDirectory directory) : directory_(std::move(directory)) {}

  sys::OwnDirectory directory_;
  HostFacts facts_ = {};
  Policy policy_ = {};
};

// Replays the plan up to its last step. Fails when a layer is not accepted or a trial is not refused;
// a command that cannot be started is no failure, because a bare plan need not let it.
Status try_layers(const Plan& plan, std::vector<run::Trial> trials);

// Those that work without confinement, and so can prove something.
std::vector<run::Trial> provable(std::vector<run::Trial> trials);

}  // namespace harn::prove
