// SPDX-License-Identifier: Apache-2.0
// Where a policy comes from: built-in default → user config → project file → flags, under the
// system ceiling. A pure function of what the loader found, so the trust rule can be tested.
//
// A member that a later layer writes replaces the one before, also with an empty list; the tables
// capabilities and network are written as a whole. What takes something away adds up (read_deny_roots,
// read-only paths inside writable ones, strip, remove, blocked_commands, blocked_ports) and env.set
// merges by name. Flags are the operator: their path, socket, credential and passthrough lists add to
// what is there. A project
// file may only narrow what default and user config allow, unless its digest is trusted; it may
// never unprotect. The ceiling is a complete policy (what it leaves unset has the default meaning)
// and is met last, so nothing passes it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harn/policy.h"

namespace harn {

struct PolicyLayers {
  std::optional<Policy> system_ceiling = {};
  std::optional<Policy> user = {};
  std::optional<Policy> project = {};
  std::optional<Policy> flags = {};
  std::string project_digest = {};             // of the project file's bytes
  std::set<std::string> trusted_digests = {};  // recorded by `harn trust`
  AbsPath project_root = {};
  AbsPath home = {};  // "/" = unknown
};

struct Composed {
  Policy policy = {};                  // canonical, workspace_roots set
  Narrowing project_narrowing = {};    // what the project file took from default and user config
  Narrowing narrowing = {};            // what the system ceiling took away
  std::vector<Widening> trusted = {};  // what a trusted project file added

  bool operator==(const Composed&) const = default;
};

// Where the project file asks for more than default and user config allow; what `harn trust` shows.
std::vector<Widening> project_widenings(const PolicyLayers& layers);

// Refused: an untrusted project file that widens, any project file that unprotects, and "/" or the
// home directory as a workspace that no flag named.
Result<Composed> compose_layers(const PolicyLayers& layers);

}  // namespace harn
