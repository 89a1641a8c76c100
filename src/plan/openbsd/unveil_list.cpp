// SPDX-License-Identifier: Apache-2.0
#include "plan/openbsd/unveil_list.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_set>

#include "plan/linux/ancestors.h"

namespace harn::plan {
namespace {

// The kernel keeps a fixed table per process: that many directories, and that many names of files.
constexpr std::size_t table_size = 128;

// Shells open with O_CREAT, which asks for `c` even when the device exists.
std::string_view letters(const PathRules& rules, const PathRule& rule) {
  const bool device = rule.origin == Origin::device;
  if (rule.access == Access::none) return "";
  if (device) return rule.access == Access::write ? "rwc" : "r";
  return rule.access == Access::write && rules.writes_allowed() ? "rwxc" : "rx";
}

class Builder {
 public:
  explicit Builder(const PlanInput& input) : input_(input) {}

  Result<UnveilList> build() && {
    for (const auto& rule : input_.rules.rules()) add(rule);
    add_sockets();
    add_absent();
    if (directories_.size() >= table_size || names_.size() >= table_size) return fail(too_many());
    std::sort(out_.unveils.begin(), out_.unveils.end(), [](const Unveil& a, const Unveil& b) { return a.path < b.path; });
    return std::move(out_);
  }

 private:
  Access lowered(const PathRule& rule) const {
    const bool withheld = !input_.rules.writes_allowed() && rule.origin != Origin::device;
    return rule.access == Access::write && withheld ? Access::read : rule.access;
  }

  void add(const PathRule& rule) {
    const auto* found = around_.enclosing(rule.path);
    const auto above = found == nullptr ? Access::none : *found;
    const auto access = lowered(rule);
    if (access == above) return;
    if (access < above && above == Access::write && rule.path.parent() != around_.place()) movable_.push_back(rule.path);
    if (rule.kind == PathKind::missing) {
      if (access < above) absent_.push_back({rule, above});
      return;
    }
    if (access == Access::write && rule.origin != Origin::device) out_.writable.push_back(rule.path);
    if (access == Access::read && linkable(rule, above)) out_.linkable.push_back(rule.path);
    unveil(rule);
    around_.enter(rule.path, access);
  }

  // link(2) asks only for reading the old name. Files of other owners cannot be written under the new one either.
  bool linkable(const PathRule& rule, Access above) const {
    if (!input_.rules.writes_allowed() || rule.origin == Origin::device) return false;
    const bool system = rule.origin == Origin::preset || rule.origin == Origin::search_path;
    return input_.facts.uid == 0 || above == Access::write || !system || input_.facts.home.contains(rule.path);
  }

  void unveil(const PathRule& rule) { unveil(rule.path, rule.kind, letters(input_.rules, rule)); }

  // A directory is held as such; a file or an absent name is an entry of its directory.
  void unveil(const AbsPath& path, PathKind kind, std::string_view permissions) {
    directories_.insert(kind == PathKind::directory ? path : path.parent());
    if (kind != PathKind::directory) names_.insert(path);
    out_.unveils.push_back({path, std::string(permissions)});
  }

  void add_sockets() {
    if (entries(input_.policy.process_sandbox.unix_sockets).empty()) return;
    std::unordered_set<AbsPath> ruled;
    for (const auto& entry : out_.unveils) ruled.insert(entry.path);
    for (const auto& socket : entries(input_.policy.process_sandbox.unix_sockets))
      if (input_.facts.exists(socket.path) && ruled.insert(socket.path).second)
        unveil(socket.path, input_.facts.kind_of(socket.path), "rw");
  }

  // Last, because they may be given up: what is absent weighs less than what is there.
  void add_absent() {
    for (const auto& [rule, above] : absent_) {
      const bool fits =
          names_.size() + 1 < table_size && (directories_.contains(rule.path.parent()) || directories_.size() + 1 < table_size);
      if (fits && input_.facts.kind_of(rule.path.parent()) == PathKind::directory) {
        unveil(rule);
        continue;
      }
      if (above == Access::write) out_.unguarded_names.push_back(rule.path);
      if (rule.access == Access::none) out_.unhidden_names.push_back(rule.path);
    }
    std::set<AbsPath> lost(out_.unguarded_names.begin(), out_.unguarded_names.end());
    for (auto& path : movable_)
      if (!lost.contains(path)) out_.movable.push_back(std::move(path));
  }

  Error too_many() const {
    return {.code = ErrorCode::not_supported,
            .stage = Stage::plan,
            .message = "the policy needs " + std::to_string(directories_.size()) + " directories and " + std::to_string(names_.size()) +
                       " files in unveil's table, which holds fewer than " + std::to_string(table_size) + " of each",
            .hint = "name fewer roots, or common parents of them"};
  }

  struct Absent {
    PathRule rule = {};
    Access above = Access::none;
  };

  const PlanInput& input_;
  UnveilList out_ = {};
  Ancestors<Access> around_ = {};
  std::vector<Absent> absent_ = {};
  std::vector<AbsPath> movable_ = {};
  std::unordered_set<AbsPath> directories_ = {};
  std::unordered_set<AbsPath> names_ = {};
};

}  // namespace

Result<UnveilList> unveil_list(const PlanInput& input) { return Builder(input).build(); }

}  // namespace harn::plan
