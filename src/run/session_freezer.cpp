// SPDX-License-Identifier: Apache-2.0
#include "run/session_freezer.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>
#include <tuple>

#include "run/cgroup_files.h"
#include "run/cgroup_members.h"
#include "sys/cgroup_places.h"
#include "sys/files.h"

namespace harn::run {
namespace {

using keeper::Freezer;

struct Words {
  std::string_view state = {};
  std::string_view frozen_file = {};
  std::string_view frozen = {};
  std::string_view thawed = {};
};

Words words_of(Freezer kind) {
  if (kind == Freezer::v1) return {.state = "freezer.state", .frozen_file = "freezer.state", .frozen = "FROZEN", .thawed = "THAWED"};
  return {.state = "cgroup.freeze", .frozen_file = "cgroup.events", .frozen = "1", .thawed = "0"};
}

Result<sys::UniqueFd> open_in(const AbsPath& directory, std::string_view name, int flags) {
  const auto file = directory.join(name).text();
  sys::UniqueFd fd(::open(file.c_str(), flags | O_CLOEXEC));
  if (!fd) return fail(cgroup_failure("open", file, errno));
  return fd;
}

Status say(int fd, std::string_view word, const AbsPath& directory) {
  if (::pwrite(fd, word.data(), word.size(), 0) == static_cast<ssize_t>(word.size())) return {};
  return fail(cgroup_failure("write", directory.text(), errno));
}

Result<SessionFreezer> open_freezer(const FreezerPlace& place) {
  const auto words = words_of(place.kind);
  SessionFreezer out{.kind = place.kind};
  HARN_TRY(state, open_in(place.directory, words.state, O_RDWR));
  HARN_TRY(members, open_in(place.directory, "cgroup.procs", O_WRONLY));
  HARN_TRY(frozen, open_in(place.directory, words.frozen_file, O_RDONLY));
  HARN_OK(say(state.get(), words.frozen, place.directory));
  HARN_OK(say(state.get(), words.thawed, place.directory));
  out.state = std::move(state);
  out.members = std::move(members);
  out.frozen = std::move(frozen);
  return out;
}

}  // namespace

std::optional<FreezerPlace> find_freezer_place(const std::string& name, bool avoid_v2, const AbsPath& proc) {
  if (!avoid_v2)
    if (const auto own = sys::find_own_group("", proc)) return FreezerPlace{.kind = Freezer::v2, .directory = own->join(name)};
  if (const auto own = sys::find_own_group("freezer", proc)) return FreezerPlace{.kind = Freezer::v1, .directory = own->join(name)};
  return std::nullopt;
}

Result<SessionFreezer> make_session_freezer(const FreezerPlace& place) {
  if (::mkdir(place.directory.text().c_str(), S_IRWXU) != 0 && errno != EEXIST)
    return fail(cgroup_failure("mkdir", place.directory.text(), errno));
  auto opened = open_freezer(place);
  if (!opened) std::ignore = remove_session_freezer(place.directory);
  return opened;
}

bool remove_session_freezer(const AbsPath& directory) {
  for (const auto kind : {Freezer::v2, Freezer::v1}) {
    const auto words = words_of(kind);
    if (auto state = open_in(directory, words.state, O_RDWR)) std::ignore = say(state->get(), words.thawed, directory);
  }
  return remove_cgroup(directory);
}

}  // namespace harn::run
