// SPDX-License-Identifier: Apache-2.0
#include "support/macos_decided.h"

#include <algorithm>

namespace harn::test {

std::vector<std::string> spellings(const std::string& path) {
  for (const std::string top : {"/tmp", "/var", "/etc"}) {
    const auto at = [&](const std::string& root) { return path == root || path.starts_with(root + "/"); };
    if (at(top)) return {path, "/private" + path};
    if (at("/private" + top)) return {path, path.substr(std::string("/private").size())};
  }
  return {path};
}

namespace {

std::size_t resolved_depth(const AbsPath& path) {
  const auto names = spellings(path.text());
  return names.size() == 1 ? path.depth() : std::max(path.depth(), AbsPath::of(names[1]).depth());
}

}  // namespace

const PathRule* nearest_by_any_name(const PathRules& rules, const AbsPath& path) {
  const auto rank = [](const PathRule& rule) { return rule.access == Access::none ? 2 : rule.access == Access::write ? 1 : 0; };
  const PathRule* best = nullptr;
  for (const auto& name : spellings(path.text())) {
    const auto* rule = rules.nearest(AbsPath::of(name));
    if (rule == nullptr) continue;
    if (best == nullptr || std::pair(resolved_depth(rule->path), rank(*rule)) > std::pair(resolved_depth(best->path), rank(*best)))
      best = rule;
  }
  return best;
}

std::vector<AbsPath> guarded_places(const PathRules& rules) {
  std::vector<AbsPath> out;
  for (const auto& rule : rules.rules())
    if (nearest_by_any_name(rules, rule.path)->access != Access::write)
      for (const auto& name : spellings(rule.path.text())) out.push_back(AbsPath::of(name));
  std::sort(out.begin(), out.end());
  return out;
}

PathVerdict decided_on_macos(const PathRules& rules, const std::vector<AbsPath>& guarded, const AbsPath& path) {
  const auto* rule = nearest_by_any_name(rules, path);
  if (rule == nullptr) return {};
  const bool writable = rule->access == Access::write;
  const bool device = rule->origin == Origin::device;
  const auto next = std::lower_bound(guarded.begin(), guarded.end(), path);
  const bool holds_guarded = next != guarded.end() && path.contains(*next);
  return {.read = rule->access >= Access::read,
          .write = writable && (rules.writes_allowed() || device),
          .remove = writable && rules.removes_allowed() && !device && !holds_guarded};
}

}  // namespace harn::test
