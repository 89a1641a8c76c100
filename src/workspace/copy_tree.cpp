// SPDX-License-Identifier: Apache-2.0
#include "workspace/copy_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "sys/files.h"
#include "workspace/content.h"

namespace harn::workspace {
namespace {

constexpr std::size_t most_names = 10'000'000;
constexpr mode_t permissions = 07777;

bool can_be_copied(const State& state) { return state.is_file() || state.is_link() || S_ISFIFO(state.mode); }

// Rights last: a directory may be closed to its owner.
Status copy_names(int from, int to) {
  HARN_TRY(entries, sys::list_entries(from, most_names));
  for (const auto& entry : entries) {
    const auto state = look(from, entry.name);
    if (!state.is_directory()) {
      if (can_be_copied(state)) HARN_OK(copy_entry(from, entry.name, state, to, entry.name));
      continue;
    }
    const sys::UniqueFd next(::openat(from, entry.name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (!next && (errno == ENOENT || errno == EACCES)) continue;
    if (!next) return fail(sys::os_failure("open", entry.name, errno));
    if (::mkdirat(to, entry.name.c_str(), S_IRWXU) != 0) return fail(sys::os_failure("mkdir", entry.name, errno));
    const sys::UniqueFd made(::openat(to, entry.name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (!made) return fail(sys::os_failure("open", entry.name, errno));
    HARN_OK(copy_names(next.get(), made.get()));
    if (::fchmod(made.get(), state.mode & permissions) != 0) return fail(sys::os_failure("fchmod", entry.name, errno));
  }
  return {};
}

}  // namespace

Status copy_tree(const AbsPath& from, const AbsPath& to) {
  HARN_TRY(source, open_tree(from));
  HARN_TRY(target, open_tree(to));
  return copy_names(source.get(), target.get());
}

}  // namespace harn::workspace
