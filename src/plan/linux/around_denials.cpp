// SPDX-License-Identifier: Apache-2.0
#include "plan/linux/around_denials.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "plan/linux/ancestors.h"

namespace harn::plan {
namespace {

using Paths = std::span<const AbsPath>;

class Splitter {
 public:
  Splitter(const PathRules& rules, const HostFacts& facts) : rules_(rules), facts_(facts) {}

  Parts run() && {
    const auto holes = holes_by_region();
    for (std::size_t i = 0; i < rules_.rules().size(); ++i) {
      auto rule = rules_.rules()[i];
      const auto found = holes.find(i);
      if (found != holes.end() && split_region(rule, found->second)) rule.access = Access::none;
      out_.rules.push_back(std::move(rule));
    }
    std::sort(out_.rules.begin(), out_.rules.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
    std::sort(out_.split.begin(), out_.split.end());
    return std::move(out_);
  }

 private:
  struct Region {
    std::size_t index = 0;
    Access granted = Access::none;  // by this or any rule above: nothing beneath can have less
  };

  // The denied paths directly inside each region that is read-only all the way up.
  std::map<std::size_t, std::vector<AbsPath>> holes_by_region() const {
    std::map<std::size_t, std::vector<AbsPath>> holes;
    Ancestors<Region> regions;
    for (std::size_t i = 0; i < rules_.rules().size(); ++i) {
      const auto& rule = rules_.rules()[i];
      const auto* above = regions.enclosing(rule.path);
      const bool hole = rule.access == Access::none && rule.kind != PathKind::missing && !rule.locked;
      if (hole && above != nullptr && above->granted == Access::read) {
        holes[above->index].push_back(rule.path);
        regions.enter(rule.path, {i, Access::none});  // splitting leaves nothing granted here
        continue;
      }
      const auto outside = above == nullptr ? Access::none : above->granted;
      regions.enter(rule.path, {i, std::max(outside, rule.access)});
    }
    return holes;
  }

  const std::vector<std::string>* entries_of(const AbsPath& directory) const {
    const auto it = facts_.paths.find(directory.text());
    return it == facts_.paths.end() || !it->second.entries ? nullptr : &*it->second.entries;
  }

  bool is_link(const AbsPath& path) const {
    const auto it = facts_.paths.find(path.text());
    return it != facts_.paths.end() && it->second.link_target;
  }

  bool split_region(const PathRule& region, Paths holes) {
    if (entries_of(region.path) == nullptr) return false;
    const auto rules_before = out_.rules.size();
    const auto split_before = out_.split.size();
    const auto parts_before = parts_;
    split_directory(region, region.path, holes);
    if (parts_ <= max_parts) return true;
    out_.rules.resize(rules_before);
    out_.split.resize(split_before);
    parts_ = parts_before;
    return false;
  }

  // Granting a directory on the way as a whole leaves the holes beneath it to the caller's report.
  void split_directory(const PathRule& region, const AbsPath& directory, Paths holes) {
    out_.split.push_back(directory);
    for (const auto& name : *entries_of(directory)) {
      if (parts_ > max_parts) return;
      const auto child = directory.join(name);
      if (child.name() != name) continue;  // facts may come from a file: "." would never end
      const bool decided_elsewhere = is_link(child) || rules_.nearest(child)->path == child;
      if (decided_elsewhere) continue;
      const auto inside = holes_within(holes, child);
      if (!inside.empty() && entries_of(child) != nullptr) split_directory(region, child, inside);
      else grant_part(region, child);
    }
  }

  static Paths holes_within(Paths holes, const AbsPath& directory) {
    const auto first = std::lower_bound(holes.begin(), holes.end(), directory);
    auto last = first;
    while (last != holes.end() && directory.contains(*last)) ++last;
    return {first, last};
  }

  // An entry nobody looked at may be a directory; rights a file cannot have are dropped on applying.
  void grant_part(const PathRule& region, const AbsPath& part) {
    const auto known = facts_.paths.find(part.text());
    const auto kind = known == facts_.paths.end() ? PathKind::directory : known->second.kind;
    out_.rules.push_back({.path = part, .access = Access::read, .origin = region.origin, .kind = kind});
    ++parts_;
  }

  const PathRules& rules_;
  const HostFacts& facts_;
  Parts out_ = {};
  std::size_t parts_ = 0;
};

}  // namespace

Parts around_denials(const PathRules& rules, const HostFacts& facts) { return Splitter(rules, facts).run(); }

}  // namespace harn::plan
