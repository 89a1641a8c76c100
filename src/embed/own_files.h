// SPDX-License-Identifier: Apache-2.0
// The files that decide about the next run: the confined side must not be able to write them.
#pragma once

#include <vector>

#include "embed/places.h"
#include "harn/plan.h"

namespace harn::embed {

struct OwnFile {
  AbsPath path = {};
  bool named = false;  // by the operator, with --policy
};

// What a command is going to be run with.
struct Decided {
  const Policy& policy;
  const PlanOptions& options;
  const HostFacts& facts;
  const PathRules& rules;
};

// Settings, trust, proved facts, the audit log and the ceiling.
std::vector<OwnFile> own_files(const Environment& environment);

// An error when the command could change one of them, or create one that does not exist yet.
Status check_own_files(const std::vector<OwnFile>& files, const Decided& decided);

// Whether something on this host can keep a path closed inside what the command may otherwise use; true where nothing confines it.
bool can_close(const Decided& decided);

}  // namespace harn::embed
