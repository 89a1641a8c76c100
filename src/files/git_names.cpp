// SPDX-License-Identifier: Apache-2.0
#include "files/git_names.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace harn::files {

bool is_trusted_by_git(const AbsPath& path) {
  static constexpr std::array<std::string_view, 5> trusted = {"hooks", "config", "config.worktree", "commondir", "gitdir"};
  const auto names = base::split(path.text(), '/');
  const auto repository = std::ranges::find(names, ".git");
  if (repository == names.end() || repository + 1 == names.end()) return false;
  const auto inside = repository + 1;
  // Beneath these lie repositories and work trees under names of anybody's choice.
  if (*inside == "modules" || *inside == "worktrees")
    return std::any_of(inside + 1, names.end(), [](std::string_view name) { return std::ranges::find(trusted, name) != trusted.end(); });
  return std::ranges::find(trusted, *inside) != trusted.end();
}

}  // namespace harn::files
