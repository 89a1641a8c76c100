// SPDX-License-Identifier: Apache-2.0
// What has to be known about a host before a policy means anything there.
#include <algorithm>
#include <functional>
#include <iterator>
#include <ranges>

#include "policy/path_candidates.h"
#include "policy/path_model.h"
#include "policy/presets.h"

namespace harn {
namespace {

std::string_view parent_text(const AbsPath& path) {
  const std::string_view text = path.text();
  return text.substr(0, text.rfind('/'));
}

}  // namespace

std::vector<AbsPath> paths_of_interest(const Policy& policy, const HostFacts& facts, const policy::KnownAbsent& known_absent) {
  const auto candidates = policy::path_candidates(policy, facts, policy::CandidateScope::whole_host, known_absent);
  std::vector<AbsPath> more;
  for (const auto& root : policy::PathModel(policy).writable_roots())
    for (const auto& entry : policy::protected_names())
      if (!entry.needs.empty()) more.push_back(root.join(entry.needs));
  for (const auto& socket : entries(policy.process_sandbox.unix_sockets)) more.push_back(socket.path);
  // What a name stands in matters too: a mechanism may need the directory to guard an absent name.
  // Neighbours mostly share it.
  for (std::size_t i = 0, count = more.size(); i < count; ++i) more.push_back(more[i].parent());
  std::string_view last;
  for (const auto& candidate : candidates) {
    const auto above = parent_text(candidate.path);
    if (above != last) more.push_back(candidate.path.parent());
    last = above;
  }
  std::ranges::sort(more);
  std::vector<AbsPath> paths;
  paths.reserve(candidates.size() + more.size());
  std::ranges::merge(candidates | std::views::transform(&policy::Candidate::path), more, std::back_inserter(paths), std::less<>());
  const auto repeated = std::ranges::unique(paths);
  paths.erase(repeated.begin(), repeated.end());
  return paths;
}

std::vector<AbsPath> directories_to_list(const PathRules& rules) {
  std::vector<AbsPath> directories;
  for (const auto& rule : rules.rules()) {
    if (rule.path.is_root() || rule.access != Access::none || rule.kind == PathKind::missing || rule.locked) continue;
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
