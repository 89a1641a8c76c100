// SPDX-License-Identifier: Apache-2.0
#include "workspace/walk.h"

#include <errno.h>
#include <fcntl.h>

#include "sys/files.h"

namespace harn::workspace {
namespace {

constexpr std::size_t most_names = 10'000'000;

}  // namespace

std::string joined(const std::string& path, const std::string& name) { return path.empty() ? name : path + "/" + name; }

Status walk_tree(int directory, const std::string& path, const Visit& visit) {
  HARN_TRY(entries, sys::list_entries(directory, most_names));
  for (const auto& entry : entries) {
    const auto state = look(directory, entry.name);
    if (!state.exists()) continue;
    const auto where = joined(path, entry.name);
    visit(where, state);
    if (!state.is_directory()) continue;
    const sys::UniqueFd below(::openat(directory, entry.name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (!below) {
      if (errno == ENOENT || errno == EACCES) continue;  // gone meanwhile, or closed to this user and so to the command
      return fail(sys::os_failure("open", where, errno));
    }
    HARN_OK(walk_tree(below.get(), where, visit));
  }
  return {};
}

}  // namespace harn::workspace
