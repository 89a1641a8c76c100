// SPDX-License-Identifier: Apache-2.0
// A policy compiled for one host. Everything special — presets, credentials, protected names, git
// directories, devices — is folded into one list in which the nearest rule decides, so that a
// backend has a single, plain thing to translate. One sweep over the sorted candidates: what is said
// above a path is handed down to it, what is said at it comes on top.
#include <algorithm>

#include "base/path_order.h"
#include "policy/kinds.h"
#include "policy/path_candidates.h"
#include "policy/path_model.h"

namespace harn {

namespace {

using policy::Candidate;
using policy::Opened;
using policy::Ruled;
using policy::Said;
using policy::says;

struct Verdict {
  Access access = Access::none;
  Origin origin = Origin::nothing;
};

constexpr Said any_list = Said::workspace | Said::read_only | Said::process_read | Said::process_write | Said::deny;
constexpr Said file_list = Said::workspace | Said::read_only | Said::deny;

Origin list_origin(Said said) {
  if (says(said, Said::deny)) return Origin::deny;
  if (says(said, Said::workspace)) return Origin::workspace;
  if (says(said, Said::process_write)) return Origin::process_write;
  return says(said, Said::read_only) ? Origin::read_only : Origin::process_read;
}

Access access_of(Ruled ruled) { return ruled == Ruled::write ? Access::write : ruled == Ruled::read ? Access::read : Access::none; }

// Everything that holds at a path and, until something else is said, beneath it.
struct Holding {
  Said covering = Said::nothing;  // said here or anywhere above
  Access file = Access::none;     // by the nearest list that concerns Harn's own operations
  Ruled process = Ruled::unruled;
  Origin list = Origin::nothing;  // the nearest list
  Opened opened = {};

  void add(const Candidate& candidate) {
    const auto said = candidate.said;
    covering = covering | said;
    // Among opened paths the most specific decides as well: a worktree's git directory is writable
    // inside a readable common directory.
    if (candidate.opened.access != Access::none) opened = candidate.opened;
    if (!says(said, any_list)) return;
    list = list_origin(said);
    process = list == Origin::deny ? Ruled::deny : says(said, Said::workspace | Said::process_write) ? Ruled::write : Ruled::read;
    if (says(said, file_list)) file = list == Origin::deny ? Access::none : list == Origin::workspace ? Access::write : Access::read;
  }

  bool is_covered(Said by) const { return says(covering, by); }
  bool is_protected() const { return is_covered(Said::protected_name) && !is_covered(Said::unprotect); }
};

}  // namespace

AbsPath real_spelling(Platform platform, const AbsPath& path) {
  if (platform != Platform::macos) return path;
  for (const auto* alias : {"/etc", "/tmp", "/var"})
    if (AbsPath::of(alias).contains(path)) return AbsPath::of("/private" + path.text());
  return path;
}

class PathRulesBuilder {
 public:
  PathRulesBuilder(const Policy& policy, const HostFacts& facts, bool for_processes) : kinds_(facts), for_processes_(for_processes) {
    out_.may_write_ = policy.may_write();
    out_.may_delete_ = policy.may_delete();
    out_.platform_ = facts.platform;
  }

  PathRules build(std::vector<Candidate> candidates) && {
    out_.rules_.reserve(candidates.size());  // what lies above is known by texts inside
    for (auto& candidate : candidates) add(candidate);
    return std::move(out_);
  }

 private:
  // A candidate on the way from the root to the present one.
  struct Above {
    std::string_view text;
    Holding holding;
    int rule;  // the nearest rule at or above, -1 = none
  };

  void add(Candidate& candidate) {
    const std::string_view text = candidate.path.text();
    while (!above_.empty() && !base::path_contains(above_.back().text, text)) above_.pop_back();
    Above here = above_.empty() ? Above{.text = {}, .holding = {}, .rule = -1} : above_.back();
    here.text = text;
    here.holding.add(candidate);
    const auto verdict = verdict_of(here.holding);
    if (verdict.access != (here.rule < 0 ? Access::none : out_.rules_[static_cast<std::size_t>(here.rule)].access)) {
      const auto kind = kinds_.at(text);
      out_.parents_.push_back(here.rule);
      here.rule = static_cast<int>(out_.rules_.size());
      const bool locked = verdict.access == Access::none && kinds_.locked(text);
      here.text = out_.rules_.emplace_back(PathRule{std::move(candidate.path), verdict.access, verdict.origin, kind, locked}).path.text();
    }
    above_.push_back(here);
  }

  Verdict listed(const Holding& holding) const {
    if (holding.process == Ruled::deny) return {Access::none, Origin::deny};
    auto ruled = holding.process;
    auto origin = holding.list;
    if (holding.is_protected() && ruled >= Ruled::read) {
      ruled = Ruled::read;
      origin = Origin::protected_;
    }
    const auto access = for_processes_ ? access_of(ruled) : std::min(holding.file, access_of(ruled));
    return {access, access == Access::none ? Origin::nothing : origin};
  }

  Verdict verdict_of(const Holding& holding) const {
    if (holding.is_covered(Said::credential)) return {Access::none, Origin::credential};
    auto verdict = listed(holding);
    const bool denied = verdict.origin == Origin::deny;
    if (!denied && holding.opened.access > verdict.access) verdict = {holding.opened.access, holding.opened.origin};
    if (!denied && verdict.access < Access::read && holding.is_covered(Said::exposed)) verdict = {Access::read, Origin::exposed};
    const bool guarded = holding.is_covered(Said::capped) && !holding.is_covered(Said::unprotect);
    if (guarded && verdict.access == Access::write) verdict = {Access::read, Origin::protected_};
    // Writing to /dev/null changes nothing, so it needs no capability.
    const bool held = out_.may_write_ || out_.may_delete_ || verdict.origin == Origin::device;
    if (verdict.access == Access::write && !held) verdict.access = Access::read;
    return verdict;
  }

  policy::Kinds kinds_;
  bool for_processes_;
  PathRules out_ = {};
  std::vector<Above> above_ = {};
};

PathRules PathRules::for_processes(const Policy& policy, const HostFacts& facts) {
  return PathRulesBuilder(policy, facts, /*for_processes=*/true).build(path_candidates(policy, facts, policy::CandidateScope::processes));
}

PathRules PathRules::for_file_operations(const Policy& policy, const HostFacts& facts) {
  return PathRulesBuilder(policy, facts, /*for_processes=*/false)
      .build(path_candidates(policy, facts, policy::CandidateScope::file_operations));
}

const PathRule* PathRules::nearest(const AbsPath& path) const {
  if (platform_ != Platform::macos) return nearest_real(path);
  return nearest_real(real_spelling(platform_, path));
}

const PathRule* PathRules::nearest_real(const AbsPath& path) const {
  const auto after =
      std::upper_bound(rules_.begin(), rules_.end(), path, [](const AbsPath& wanted, const PathRule& rule) { return wanted < rule.path; });
  auto index = static_cast<int>(after - rules_.begin()) - 1;
  // The predecessor may sit in a sibling's subtree; its ancestors lead to ours.
  while (index >= 0 && !rules_[static_cast<std::size_t>(index)].path.contains(path)) index = parents_[static_cast<std::size_t>(index)];
  return index < 0 ? nullptr : &rules_[static_cast<std::size_t>(index)];
}

Access PathRules::access(const AbsPath& path) const {
  const auto* rule = nearest(path);
  return rule == nullptr ? Access::none : rule->access;
}

Decision PathRules::decide(const AbsPath& path, FileOp op) const {
  const auto* rule = nearest(path);
  if (rule == nullptr) return {};
  Decision out{.allowed = false, .origin = rule->origin, .rule = rule->path};
  switch (op) {
    case FileOp::read:
    case FileOp::list:
    case FileOp::execute: out.allowed = rule->access >= Access::read; break;
    case FileOp::write: out.allowed = rule->access == Access::write && (may_write_ || rule->origin == Origin::device); break;
    case FileOp::remove: out.allowed = rule->access == Access::write && may_delete_ && rule->origin != Origin::device; break;
  }
  return out;
}

Decision decide(const Policy& policy, const HostFacts& facts, const AbsPath& path, FileOp op) {
  return PathRules::for_processes(policy, facts).decide(path, op);
}

}  // namespace harn
