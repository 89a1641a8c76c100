// SPDX-License-Identifier: Apache-2.0
#include "learn/generalise.h"

#include <algorithm>

#include "policy/presets.h"

namespace harn::learn {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }

// The longest run of characters that satisfy `test`.
template <class Test>
std::size_t longest_run(std::string_view text, Test test) {
  std::size_t longest = 0;
  std::size_t here = 0;
  for (const char c : text) {
    here = test(c) ? here + 1 : 0;
    longest = std::max(longest, here);
  }
  return longest;
}

// A root inside ".git" would have other protected names than the repository: hooks would be plain files.
AbsPath around_protected(const AbsPath& path) {
  for (auto at = path; !at.is_root(); at = at.parent())
    for (const auto& row : policy::protected_names())
      if (const auto slash = row.name.find('/'); slash != std::string_view::npos && at.name() == row.name.substr(0, slash))
        return at.parent();
  return path;
}

AbsPath over_versions(const AbsPath& path, const Bounds& bounds) {
  const auto inside =
      std::ranges::find_if(bounds.version_places, [&](const AbsPath& place) { return place.contains(path) && place != path; });
  if (inside == bounds.version_places.end()) return path;
  auto highest = path;
  for (auto at = path; at != *inside; at = at.parent())
    if (looks_versioned(at.name()) && !bounds.is_too_wide(at.parent())) highest = at.parent();
  return highest;
}

void grant(Grants& grants, const AbsPath& path, Access access) {
  auto& held = grants[path];
  held = std::max(held, access);
}

bool is_covered(const Grants& grants, const AbsPath& path, Access access) {
  for (auto at = path; !at.is_root();) {
    at = at.parent();
    const auto found = grants.find(at);
    if (found != grants.end() && found->second >= access) return true;
  }
  return false;
}

Grants without_covered(const Grants& grants) {
  Grants out;
  for (const auto& [path, access] : grants)
    if (!is_covered(grants, path, access)) out.emplace(path, access);
  return out;
}

// Deepest first, so that directories that took the place of their files count as names in turn.
Grants fold_siblings(Grants grants, const Bounds& bounds) {
  std::size_t deepest = 0;
  for (const auto& [path, access] : grants) deepest = std::max(deepest, path.depth());
  for (auto depth = deepest; depth > 1; --depth) {
    std::map<std::pair<AbsPath, Access>, std::size_t> children;
    for (const auto& [path, access] : grants)
      if (path.depth() == depth) ++children[{path.parent(), access}];
    for (const auto& [directory, count] : children)
      if (count > most_siblings && !bounds.is_too_wide(directory.first)) grant(grants, directory.first, directory.second);
    grants = without_covered(grants);
  }
  return grants;
}

}  // namespace

bool looks_versioned(std::string_view name) {
  const auto digits = std::ranges::count_if(name, is_digit);
  if (digits == 0) return false;
  if (longest_run(name, is_hex) >= 12) return true;
  for (std::size_t i = 1; i + 1 < name.size(); ++i)
    if (name[i] == '.' && is_digit(name[i - 1]) && is_digit(name[i + 1])) return true;
  return name.size() > 1 && name.front() == 'v' && std::ranges::all_of(name.substr(1), is_digit);
}

Grants generalise(Grants exact, const Bounds& bounds) {
  Grants grants;
  for (const auto& [path, access] : exact) {
    auto wide = over_versions(path, bounds);
    if (access == Access::write) wide = around_protected(wide);
    grant(grants, bounds.is_too_wide(wide) ? path : wide, access);
  }
  return fold_siblings(without_covered(grants), bounds);
}

}  // namespace harn::learn
