// SPDX-License-Identifier: Apache-2.0
#include "sandbox/appeared.h"

#include <vector>

#include "sys/files.h"

namespace harn::sandbox {
namespace {

bool exists(const AbsPath& path) { return sys::type_of(path) != sys::FileType::missing; }

}  // namespace

std::vector<AbsPath> without_repository(std::vector<AbsPath> roots) {
  std::erase_if(roots, [](const AbsPath& root) { return exists(root.join(".git")); });
  return roots;
}

void report_appeared(const Plan& plan, const std::vector<AbsPath>& were_no_repository, Outcome& outcome) {
  for (const auto& gap : plan.coverage.gaps) {
    if (gap.code != "absent_protected_name") continue;
    for (const auto& path : gap.paths)
      if (exists(path)) outcome.appeared.push_back(path.text());
  }
  for (const auto& root : were_no_repository)
    if (exists(root.join(".git"))) outcome.created_trusted.push_back(root.text());
}

}  // namespace harn::sandbox
