// SPDX-License-Identifier: Apache-2.0
#include "sandbox/appeared.h"

#include <algorithm>
#include <string>
#include <vector>

#include "sys/files.h"

namespace harn::sandbox {
namespace {

constexpr std::size_t longest_listing = 2048;  // a longer directory costs more to read than to ask

bool exists(const AbsPath& path) { return sys::type_of(path) != sys::FileType::missing; }

// Most of the names would stand at the top of the project, so that is read once.
class Present {
 public:
  bool operator()(const AbsPath& path) {
    if (path.parent() != directory_) {
      directory_ = path.parent();
      auto listed = sys::list_directory(directory_, longest_listing);
      known_ = listed.has_value();
      names_ = known_ ? std::move(*listed) : std::vector<std::string>();
    }
    return known_ ? std::ranges::binary_search(names_, path.name()) : exists(path);
  }

 private:
  AbsPath directory_ = {};
  bool known_ = false;
  std::vector<std::string> names_ = {};
};

}  // namespace

std::vector<AbsPath> without_repository(std::vector<AbsPath> roots) {
  std::erase_if(roots, [](const AbsPath& root) { return exists(root.join(".git")); });
  return roots;
}

void report_appeared(const Plan& plan, const std::vector<AbsPath>& were_no_repository, Outcome& outcome) {
  for (const auto& gap : plan.coverage.gaps) {
    if (gap.code != "absent_protected_name") continue;
    Present present;
    for (const auto& path : gap.paths)
      if (present(path)) outcome.appeared.push_back(path.text());
  }
  for (const auto& root : were_no_repository)
    if (exists(root.join(".git"))) outcome.created_trusted.push_back(root.text());
}

}  // namespace harn::sandbox
