// SPDX-License-Identifier: Apache-2.0
// What has to be known about a host before a policy means anything there.
#include <algorithm>

#include "policy/path_candidates.h"
#include "policy/path_model.h"
#include "policy/presets.h"

namespace harn {

std::vector<AbsPath> paths_of_interest(const Policy& policy, const HostFacts& facts) {
  std::vector<AbsPath> paths;
  for (auto& candidate : policy::path_candidates(policy, facts, policy::CandidateScope::whole_host))
    paths.push_back(std::move(candidate.path));
  for (const auto& root : policy::PathModel(policy).writable_roots())
    for (const auto& entry : policy::protected_names())
      if (!entry.needs.empty()) paths.push_back(root.join(entry.needs));
  for (const auto& socket : entries(policy.process_sandbox.unix_sockets)) paths.push_back(socket.path);
  // What a name stands in matters too: a mechanism may need the directory to guard an absent name.
  for (std::size_t i = 0, count = paths.size(); i < count; ++i) paths.push_back(paths[i].parent());
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

std::vector<AbsPath> directories_to_list(const PathRules& rules) {
  std::vector<AbsPath> directories;
  for (const auto& rule : rules.rules()) {
    if (rule.path.is_root() || rule.access != Access::none || rule.kind == PathKind::missing) continue;
    const auto* above = rules.nearest(rule.path.parent());
    if (above == nullptr || above->access != Access::read) continue;
    for (auto at = rule.path.parent(); above->path.contains(at); at = at.parent()) {
      directories.push_back(at);
      if (at == above->path) break;
    }
  }
  // A mechanism that hides by name rather than by place has to know what stands at the top.
  directories.push_back(AbsPath::of("/"));
  directories.push_back(AbsPath::of("/usr"));
  std::sort(directories.begin(), directories.end());
  directories.erase(std::unique(directories.begin(), directories.end()), directories.end());
  return directories;
}

}  // namespace harn
