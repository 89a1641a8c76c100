// SPDX-License-Identifier: Apache-2.0
// Changes of a workspace that wait: for single runs beside the project, for sessions beside their records.
#pragma once

#include "session/record.h"
#include "workspace/pending.h"

namespace harn::session {

// Made ready and held until the command has ended, so that nobody applies what is still being written. Where no layer can lie over a tree,
// the plan shows a copy in its place and says so. Nothing: the plan has no layers.
Result<std::optional<workspace::Pending>> begin_overlay(const PlanOptions& options, Plan& plan);

AbsPath overlay_of(const Places& places, const std::string& id);

// Whether changes of the session wait; whatever cannot be looked at counts as one.
bool changes_wait(const Places& places, const Record& record);

// The session's changes, while nobody makes more: an error where commands run. `in_use` tells whether it lives.
struct Waiting {
  std::optional<workspace::Pending> pending = {};
  bool in_use = false;
  sys::UniqueFd lock = {};
};
SandboxResult<Waiting> waiting_of(const Places& places, const Record& record);

}  // namespace harn::session
