// SPDX-License-Identifier: Apache-2.0
// Everything make_plan() needs, from flags, files and the host: the one path that plan and run share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/args.h"
#include "cli/flags.h"
#include "embed/decisions.h"
#include "harn/layering.h"
#include "harn/plan.h"

namespace harn::cli {

struct Prepared {
  HostFacts facts = {};
  Policy policy = {};
  Policy asked = {};     // the same before this host was looked at: what a tape keeps
  PathRules rules = {};  // the policy compiled for this host
  Command command = {};
  PlanOptions options = {};
  PathContext context = {};                 // what paths on this command line refer to
  bool this_host = true;                    // false: the facts describe another machine
  std::vector<std::string> notes = {};      // for who reads the plan
  std::vector<std::string> warnings = {};   // of these, what was found in the project: also for who only runs it
  std::vector<std::string> cut_short = {};  // of these, what flags asked for in vain
  embed::Loaded loaded = {};                // where the policy comes from
};

// This machine, with what it was proved to enforce, less what HARN_PRETEND takes away. Where nothing could
// be tried, a command that is to be confined must not run: an error, unless `confining` is false.
Result<HostFacts> proved_facts(const Caller& caller, bool confining = true);

// `audit`, where given, gets the user's settings even if a later step fails.
Result<Prepared> prepare(const Arguments& arguments, const Caller& caller, AuditSettings* audit = nullptr);

// What a run would be, without asking what this host can enforce: nothing is started. `argv` in place of the operands.
Result<Prepared> prepare_unproved(const Arguments& arguments, const Caller& caller, std::vector<std::string> argv,
                                  AuditSettings* audit = nullptr);

struct LoadedLayers {
  PolicyLayers layers = {};             // symbolic links resolved
  std::vector<Policy> written = {};     // the same but the ceiling, as they stand
  std::optional<Backend> backend = {};  // docker, where a Harness project asks for a container and no flag says otherwise
  std::string image = {};               // … and what it is made of
  std::string harness_file = {};        // where those settings of the project stand
  std::string users_image = {};         // in the user's settings
};

// The image for containers when nobody names one: the operator's HARN_IMAGE, else the user's, else the built-in one.
std::string default_image(const Caller& caller, const std::string& users);

struct LoadRequest {
  const std::string* policy_file = nullptr;  // named by the operator: it stands in place of the user's and the project's
  const std::string* mode = nullptr;         // --sandbox
  AuditSettings* audit = nullptr;            // where given, gets the user's settings
};

// The policy layers of this host; shared with `harn trust`.
Result<LoadedLayers> load_layers(const Caller& caller, const HostFacts& facts, const LoadRequest& request = {});

}  // namespace harn::cli
