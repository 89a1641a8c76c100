// SPDX-License-Identifier: Apache-2.0
// Looking at this machine: the facts a plan is made from, and policy paths with their symbolic links
// resolved. Read-only; nothing is started and nothing is changed.
//
//   HostFacts facts = probe_host({.environment = env, .cwd = cwd});
//   HARN_TRY(policy, resolve_policy_paths(with_project_root(asked, facts.project_root)));
//   auto notes = look_at_paths(facts, policy);
//   HARN_TRY(plan, make_plan(policy, command, facts));
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harn/host.h"
#include "harn/policy.h"

namespace harn {

struct ProbeRequest {
  std::map<std::string, std::string> environment = {};  // HOME, TMPDIR and PATH are read
  AbsPath cwd = {};
  std::optional<AbsPath> project_root = {};  // named by the operator; unset = nearest harn.toml, else cwd
  bool kernel_claims = true;                 // what the kernel says it can do; not needed where settle_facts() follows
  bool os_name = true;                       // for people; nothing is planned by it
};

// Everything but `paths` and `git`, which depend on the policy. Never fails: what cannot be found
// out is a fact too ("no user namespaces", and why). Directories come with their links resolved.
HostFacts probe_host(const ProbeRequest& request);

// Fills facts.paths for everything the policy's meaning depends on, and facts.git for its workspace
// roots. Returns notes for people: git directories that were not believed, and why.
std::vector<std::string> look_at_paths(HostFacts& facts, const Policy& policy);

// Inside a writable root the command makes the links. A path that opens something and goes through one
// of them out of that root would open whatever an earlier run pointed it at: an error. `written` are the
// layers of one policy before their links are resolved; `writable` are resolved roots beyond theirs.
Status check_planted_links(const std::vector<Policy>& written, std::vector<AbsPath> writable);

// Symbolic links in the policy's paths resolved, as far as the paths exist. A loop is an error, and so
// is what check_planted_links() finds in this policy alone.
// `credentials` and `unprotect` are names, so only the directories leading to them are resolved.
Result<Policy> resolve_policy_paths(Policy policy);

// HOME where it is an absolute path, else the account's home directory; nothing where neither is known.
std::optional<AbsPath> home_directory(const std::map<std::string, std::string>& environment);

// The nearest directory at or above `start` that holds a harn.toml somebody entitled put there;
// `start` itself when there is none.
AbsPath find_project_root(const AbsPath& start);

}  // namespace harn
