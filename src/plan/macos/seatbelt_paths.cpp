// SPDX-License-Identifier: Apache-2.0
#include "plan/macos/seatbelt_paths.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "plan/linux/ancestors.h"

namespace harn::plan {
namespace {

using Operations = std::vector<std::string>;

constexpr std::string_view data_volume = "/System/Volumes/Data";
constexpr std::string_view linked[] = {"/tmp", "/var", "/etc"};
constexpr std::string_view link_target = "/private";  // each of them leads to its own name in here

// AbsPath::contains on plain text: asked several times per rule, of policies with thousands of rules.
bool lies_in(std::string_view root, std::string_view path) {
  return path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
}

// Nobody executes a device or gives it a second name.
Operations reading(bool device = false) {
  return device ? Operations{"file-read*"} : Operations{"file-read*", "file-map-executable", "process-exec*"};
}

// file-link too: a hard link would be a second, writable name of the file. /dev/null takes what is
// written to it also where the policy lets nothing be written.
Operations changing(const PathRules& rules, bool device = false) {
  if (device) return {"file-write*"};
  return rules.writes_allowed() ? Operations{"file-write*", "file-link"} : Operations{"file-write-unlink"};
}

Operations both(Operations a, const Operations& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

constexpr std::pair<Origin, std::string_view> reasons[] = {
    {Origin::workspace, "workspace"},
    {Origin::read_only, "read-only roots"},
    {Origin::process_read, "roots the policy lets processes read"},
    {Origin::process_write, "roots the policy lets processes write"},
    {Origin::deny, "denied by the policy"},
    {Origin::credential, "credentials"},
    {Origin::exposed, "credentials the policy exposes"},
    {Origin::protected_, "names the host executes or trusts, present or not"},
    {Origin::unprotect, "protected names the operator opened"},
    {Origin::preset, "presets"},
    {Origin::search_path, "directories on PATH"},
    {Origin::device, "devices"},
    {Origin::git, "git directories of a linked worktree"},
    {Origin::nothing, "paths outside every list"},
};

std::string why(Origin origin) {
  const auto is_it = [&](const auto& reason) { return reason.first == origin; };
  return std::string(std::find_if(std::begin(reasons), std::end(reasons) - 1, is_it)->second);
}

class Writer {
 public:
  explicit Writer(const PathRules& rules) : rules_(rules), resolved_(macos_resolved(rules)) {}

  std::vector<SbplRule> write() && {
    Ancestors<Access> around;
    for (const auto& rule : resolved_) {
      const auto* found = around.enclosing(rule.path);
      const auto above = found == nullptr ? Access::none : *found;
      if (rule.access > above) open(rule, above);
      if (rule.access < above) close(rule, above, around.place());
      around.enter(rule.path, rule.access);
    }
    close_any_case();
    add_closing_rules();
    return std::move(out_);
  }

 private:
  void open(const PathRule& rule, Access above) {
    close_any_case();
    append({true, gained(rule, above), names_filter(rule.path), why(rule.origin)});
    if (above == Access::none) remember_ancestors(rule.path);
    if (rule.origin == Origin::device && rule.access == Access::write) devices_.push_back(rule.path);
  }

  void close(const PathRule& rule, Access above, const AbsPath& region) {
    if (above == Access::write) {
      guarded_.push_back(rule.path);
      if (rule.kind == PathKind::missing) remember_any_case(rule.path, region);
    }
    auto operations = above == Access::read         ? reading()
                      : rule.access == Access::read ? changing(rules_)
                                                    : both(reading(), changing(rules_));
    append({false, std::move(operations), names_filter(rule.path), why(rule.origin)});
  }

  static std::vector<SbplFilter> names_filter(const AbsPath& path) {
    std::vector<SbplFilter> filters;
    for (auto& name : macos_names(path)) filters.push_back({SbplMatch::subpath, std::move(name)});
    return filters;
  }

  void remember_any_case(const AbsPath& path, const AbsPath& region) {
    const auto below = path.text().size() - region.text().size();
    for (const auto& name : macos_names(path)) {
      const auto cut = name.size() - std::min(below, name.size());
      any_case_.push_back({SbplMatch::regex, sbpl_any_case(name.substr(0, cut), name.substr(cut))});
    }
  }

  // Collected over a run of denials, whose order does not matter, and written before the next grant.
  void close_any_case() {
    append(
        {false, changing(rules_), std::move(any_case_), "absent names in other letter case, which the usual volume does not tell apart"});
    any_case_ = {};
  }

  Operations gained(const PathRule& rule, Access above) const {
    const bool device = rule.origin == Origin::device;
    if (rule.access == Access::read) return reading(device);
    return above == Access::read ? changing(rules_, device) : both(reading(device), changing(rules_, device));
  }

  // Neighbours that say the same become one rule: nothing stands between them that could match differently.
  void append(SbplRule rule) {
    if (rule.filters.empty()) return;
    if (!out_.empty()) {
      auto& last = out_.back();
      if (last.allow == rule.allow && last.operations == rule.operations && last.why == rule.why) {
        last.filters.insert(last.filters.end(), std::make_move_iterator(rule.filters.begin()), std::make_move_iterator(rule.filters.end()));
        return;
      }
    }
    out_.push_back(std::move(rule));
  }

  void remember_ancestors(const AbsPath& path) {
    for (const auto& name : macos_names(path))
      for (auto at = AbsPath::of(name).parent(); !at.is_root() && ancestors_.insert(at).second;) at = at.parent();
  }

  void add_closing_rules() {
    SbplRule walk{true, {"file-read-metadata"}, {}, "directories on the way to what is open, by name only"};
    for (const auto& path : ancestors_) walk.filters.push_back({SbplMatch::literal, path.text()});
    append(std::move(walk));
    append({false,
            both(reading(), changing(rules_)),
            {{SbplMatch::subpath, std::string(data_volume)}},
            "everything here is reached by its usual name, which the rules above judge"});
    add_unlink_rules();
  }

  void add_unlink_rules() {
    if (!rules_.removes_allowed() && rules_.writes_allowed()) {
      out_.push_back({false, {"file-write-unlink"}, {}, "the policy allows writing but not deleting"});
      return;
    }
    SbplRule devices{false, {"file-write-unlink"}, {}, "no device is ever removed"};
    for (const auto& path : devices_) devices.filters.push_back({SbplMatch::subpath, path.text()});
    append(std::move(devices));
    SbplRule pins{false, {"file-write-unlink"}, {}, "a directory that was moved away could be made again without what is protected inside"};
    for (const auto& path : holders())
      for (auto& name : macos_names(path)) pins.filters.push_back({SbplMatch::literal, std::move(name)});
    append(std::move(pins));
  }

  // Writable directories with something less than writable beneath them.
  std::set<AbsPath> holders() const {
    std::set<AbsPath> seen;
    std::set<AbsPath> out;
    for (const auto& path : guarded_)
      for (auto at = path; !at.is_root() && seen.insert(at.parent()).second;) {
        at = at.parent();
        if (access(at) == Access::write) out.insert(at);
      }
    return out;
  }

  Access access(const AbsPath& resolved) const {
    for (auto at = resolved;; at = at.parent()) {
      const auto it = std::lower_bound(resolved_.begin(), resolved_.end(), at,
                                       [](const PathRule& rule, const AbsPath& wanted) { return rule.path < wanted; });
      if (it != resolved_.end() && it->path == at) return it->access;
      if (at.is_root()) return Access::none;
    }
  }

  const PathRules& rules_;
  std::vector<PathRule> resolved_;
  std::vector<SbplRule> out_ = {};
  std::set<AbsPath> ancestors_ = {};
  std::vector<AbsPath> guarded_ = {};
  std::vector<AbsPath> devices_ = {};
  std::vector<SbplFilter> any_case_ = {};
};

}  // namespace

AbsPath macos_resolved(const AbsPath& path) {
  std::string_view usual = path.text();
  if (lies_in(data_volume, usual)) usual.remove_prefix(data_volume.size());
  for (const auto link : linked)
    if (lies_in(link, usual)) return AbsPath::of(std::string(link_target).append(usual));
  if (usual.size() == path.text().size()) return path;
  return usual.empty() ? AbsPath() : AbsPath::of(usual);
}

std::vector<std::string> macos_names(const AbsPath& resolved) {
  const auto& text = resolved.text();
  std::vector<std::string> names = {text};
  if (!lies_in(link_target, text)) return names;
  for (const auto link : linked) {
    if (text.size() == link_target.size()) names.emplace_back(link);
    else if (lies_in(link, std::string_view(text).substr(link_target.size()))) names.push_back(text.substr(link_target.size()));
  }
  return names;
}

std::vector<PathRule> macos_resolved(const PathRules& rules) {
  auto out = rules.rules();
  bool moved = false;
  for (auto& rule : out) {
    auto path = macos_resolved(rule.path);
    if (path == rule.path) continue;
    rule.path = std::move(path);
    moved = true;
  }
  if (!moved) return out;
  const auto rank = [](const PathRule& rule) {
    const int strength = rule.access == Access::none ? 0 : rule.access == Access::write ? 1 : 2;
    return std::tuple(strength, rule.origin, rule.kind);
  };
  std::sort(out.begin(), out.end(), [&](const PathRule& a, const PathRule& b) {
    if (const auto order = a.path <=> b.path; order != 0) return order < 0;
    return rank(a) < rank(b);
  });
  out.erase(std::unique(out.begin(), out.end(), [](const PathRule& a, const PathRule& b) { return a.path == b.path; }), out.end());
  return out;
}

std::vector<SbplRule> seatbelt_path_rules(const PathRules& rules) { return Writer(rules).write(); }

}  // namespace harn::plan
