// SPDX-License-Identifier: Apache-2.0
// One command in a view that is kept (run/kept.h): the same steps as run_plan(), less what was done when the
// view was made.
#pragma once

#include "harn/sandbox.h"
#include "run/kept.h"
#include "sandbox/session_relay.h"
#include "sys/cgroup_places.h"

namespace harn::sandbox {

struct Joined {
  AbsPath directory = {};                      // of the keeper's socket
  bool keeps_processes = false;                // what the command leaves behind stays in the session
  std::string plan_digest = {};                // of the view's plan, for the audit log
  std::optional<SyscallFilter> narrower = {};  // on top of the view's own
  run::Proofs proofs = {};                     // what was tried when the view was made
  bool own_terminal = false;                   // what stands at its standard input becomes its own
  sys::CgroupPlaces cgroups = {};              // of the session, for groups of its commands
  std::optional<RelayAddress> relay = {};      // of the session's relay, which says what was reached meanwhile
  run::Line* line = nullptr;                   // borrowed; where the connection comes from, and the next one is kept
};

// An error where a plan cannot be kept: somebody outside would have to stay beside it, or nobody holds it.
Status check_keepable(const Plan& plan);

// `plan` needs no confinement of its own; with RunOptions::receipt it must be the whole one.
Result<Outcome> run_joined(const Plan& plan, const RunOptions& options, const Joined& joined);

}  // namespace harn::sandbox
