// SPDX-License-Identifier: Apache-2.0
// The steps between a policy and a plan on this host: the one way that the command line, the library and
// its bindings share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "embed/asking.h"
#include "embed/blocked.h"
#include "embed/places.h"
#include "harn/plan.h"
#include "harn/prove.h"
#include "harn/sandbox.h"

namespace harn::embed {

struct Standing {
  const Environment& environment;
  const AbsPath& cwd;
  Inside inside = Inside::own_program;
};

// This machine, with what it was proved to enforce, less what HARN_PRETEND takes away. Where nothing could
// be tried, a command that is to be confined must not run: an error, unless `confining` is false.
Result<HostFacts> proved_facts(const Standing& standing, bool confining = true);

// This machine as it looks; nothing is tried and nothing started.
HostFacts seen_facts(const Standing& standing);

// Where the options name a container engine, it is tried (once per boot); nobody else waits for a daemon.
Status settle_named_engine(HostFacts& facts, const PlanOptions& options, const Environment& environment, const std::string& image);

// Where the policy runs modules, their runtimes are looked for and tried; nobody else waits for that.
void settle_wasi_runtime(HostFacts& facts, const Policy& policy, const PlanOptions& options, const Environment& environment);

// What this host looks like to one composed policy, now.
struct Looked {
  PathRules rules = {};                    // the policy compiled for this host
  std::vector<std::string> warnings = {};  // what was found in the project, for people
};
// A policy that would let the command read the audit log is narrowed: that log is about it.
Looked look_at_host(HostFacts& facts, Policy& policy, const Environment& environment);

// Before the host is looked at: the first run of a user makes the directory, and only what exists can be
// closed. None is no error, the receipt says "assumed".
std::optional<AbsPath> make_canary(const Environment& environment);

// The plan, run: a refusal is an error, the workspace is watched, and the canary tried unless the policy opens it.
struct Planned {
  const Plan& plan;
  const Policy& policy;
  const PathRules& rules;
  const HostFacts& facts;
};
// `asks`, where the plan does, is who is asked.
Result<Outcome> run_looked(const Planned& planned, RunOptions options, std::optional<AskSettings> asks = {});

}  // namespace harn::embed
