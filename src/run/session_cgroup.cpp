// SPDX-License-Identifier: Apache-2.0
#include "run/session_cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <set>

#include <fmt/format.h>

#include "run/cgroup_files.h"
#include "run/cgroup_members.h"
#include "sys/files.h"
#include "sys/unique_fd.h"

namespace harn::run {
namespace {

constexpr std::size_t most_groups = 1u << 16;
constexpr std::string_view keeper_group = "keeper";  // version 2: a group with members gives its controllers to no child

std::set<std::string> controllers_of(const std::map<std::string, std::string>& values) {
  std::set<std::string> out;
  for (const auto& [file, value] : values) out.emplace(controller_of(file));
  return out;
}

Status make_group(const AbsPath& directory) {
  if (::mkdir(directory.text().c_str(), S_IRWXU) == 0 || errno == EEXIST) return {};
  return fail(cgroup_failure("mkdir", directory.text(), errno));
}

Status write_into(const AbsPath& file, const std::string& text) {
  const sys::UniqueFd fd(::open(file.text().c_str(), O_WRONLY | O_CLOEXEC));
  if (fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size())) return {};
  return fail(cgroup_failure("write", fmt::format("{} to {}", text, file.text()), errno));
}

Status hand_down(const AbsPath& group, const std::set<std::string>& controllers) {
  std::string text;
  for (const auto& name : controllers) text += fmt::format("{}+{}", text.empty() ? "" : " ", name);
  return write_into(group.join("cgroup.subtree_control"), text);
}

AbsPath members_of(const sys::CgroupPlaces& groups, const AbsPath& directory) {
  return (groups.kind == CgroupKind::v2 ? directory.join(keeper_group) : directory).join("cgroup.procs");
}

bool remove_with_children(const AbsPath& directory) {
  if (const auto names = sys::list_directory(directory, most_groups))
    for (const auto& name : *names)
      if (const auto inner = directory.join(name); sys::type_of(inner) == sys::FileType::directory) remove_cgroup(inner);
  return remove_cgroup(directory);
}

}  // namespace

Result<sys::CgroupPlaces> session_cgroup_places(const sys::CgroupPlaces& own, const std::string& name,
                                                const std::map<std::string, std::string>& values) {
  sys::CgroupPlaces out{.kind = own.kind};
  auto controllers = controllers_of(values);
  if (own.kind == CgroupKind::v2) controllers = {""};
  else controllers.insert("pids");  // what makes ending everybody certain
  for (const auto& controller : controllers) {
    const auto found = own.directories.find(controller);
    if (found == own.directories.end())
      return fail(Error{.code = ErrorCode::not_available,
                        .stage = Stage::prepare,
                        .message = "limits for a whole session need a cgroup, and this process can make none",
                        .hint = "run it where a cgroup is delegated to you, or limit each command"});
    out.directories.emplace(controller, found->second.join(name));
  }
  return out;
}

Status make_session_cgroup(const sys::CgroupPlaces& groups, const std::map<std::string, std::string>& values) {
  const auto controllers = controllers_of(values);
  for (const auto& [controller, directory] : groups.directories) {
    if (groups.kind == CgroupKind::v2) HARN_OK(hand_down(directory.parent(), controllers));
    HARN_OK(make_group(directory));
  }
  HARN_OK((CgroupFiles{.kind = groups.kind, .directories = groups.directories}.write(values)));
  if (groups.kind != CgroupKind::v2) return {};
  const auto& directory = groups.directories.begin()->second;
  HARN_OK(hand_down(directory, controllers));
  return make_group(directory.join(keeper_group));
}

Status join_session_cgroup(const sys::CgroupPlaces& groups, pid_t pid) {
  for (const auto& [controller, directory] : groups.directories) HARN_OK(write_into(members_of(groups, directory), std::to_string(pid)));
  return {};
}

bool remove_session_cgroup(const sys::CgroupPlaces& groups) {
  bool gone = true;
  for (const auto& [controller, directory] : groups.directories) gone = remove_with_children(directory) && gone;
  return gone;
}

}  // namespace harn::run
