// SPDX-License-Identifier: Apache-2.0
#include "sandbox/appeared.h"

#include <algorithm>

#include "sys/files.h"

namespace harn::sandbox {
namespace {

// A repository that was not there brings hooks and config of its own; that is what "git init" is for.
bool belongs_to_new_repository(const AbsPath& name, const std::vector<AbsPath>& absent) {
  const auto git = name.parent();
  if (git.name() != ".git" || sys::type_of(git.join("HEAD")) != sys::FileType::file) return false;
  const auto absent_too = [&](std::string_view other) { return std::ranges::find(absent, git.join(other)) != absent.end(); };
  return absent_too("config") && absent_too("hooks");
}

}  // namespace

void report_appeared(const Plan& plan, Outcome& outcome) {
  for (const auto& gap : plan.coverage.gaps) {
    if (gap.code != "absent_protected_name") continue;
    for (const auto& path : gap.paths) {
      if (sys::type_of(path) == sys::FileType::missing) continue;
      if (!belongs_to_new_repository(path, gap.paths)) {
        outcome.appeared.push_back(path.text());
        continue;
      }
      auto repository = path.parent().parent().text();
      if (std::ranges::find(outcome.created_trusted, repository) == outcome.created_trusted.end())
        outcome.created_trusted.push_back(std::move(repository));
    }
  }
}

}  // namespace harn::sandbox
