// SPDX-License-Identifier: Apache-2.0
#include "run/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "run/cgroup_members.h"
#include "sys/files.h"

namespace harn::run {
namespace {

constexpr std::size_t longest_list = 1u << 16;
constexpr int most_attempts = 100;

// Children of a version 2 group get only the controllers it hands down.
Status hand_down(const AbsPath& parent, const std::set<std::string_view>& controllers) {
  const auto file = parent.join("cgroup.subtree_control");
  const auto text = sys::read_file(file, longest_list);
  if (!text) return fail(cgroup_failure("open", file.text(), text.error().os_error));
  const auto given = base::split(base::trim(*text), ' ');
  std::string missing;
  for (const auto name : controllers)
    if (std::ranges::find(given, name) == given.end()) missing += fmt::format("{}+{}", missing.empty() ? "" : " ", name);
  if (missing.empty()) return {};
  const sys::UniqueFd fd(::open(file.text().c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd || ::write(fd.get(), missing.data(), missing.size()) < 0)
    return fail(cgroup_failure("write", fmt::format("{} to {}", missing, file.text()), errno));
  return {};
}

bool still_named(const sys::UniqueFd& directory, const AbsPath& path) {
  struct stat held = {};
  struct stat named = {};
  return ::fstat(directory.get(), &held) == 0 && ::stat(path.text().c_str(), &named) == 0 && held.st_ino == named.st_ino;
}

Error not_offered(std::string_view controller) {
  return {.code = ErrorCode::not_available,
          .stage = Stage::prepare,
          .message = fmt::format("the plan needs the cgroup controller {}, which this process cannot use", base::quoted(controller)),
          .hint = "make the plan on this host, or leave out the limit that needs it"};
}

}  // namespace

Result<Cgroup> Cgroup::make(const sys::CgroupPlaces& places, const CgroupRequest& request) {
  Cgroup cgroup;
  cgroup.files_.kind = places.kind;
  std::set<std::string_view> controllers;
  for (const auto& [file, value] : request.values) controllers.insert(controller_of(file));
  controllers.erase("cgroup");
  if (places.kind == CgroupKind::v2) {
    HARN_OK(hand_down(places.directories.at(""), controllers));
    controllers = {""};
  } else {
    controllers.insert("pids");  // what makes kill_all() certain
  }
  for (const auto controller : controllers) {
    const auto found = places.directories.find(controller);
    if (found == places.directories.end()) return fail(not_offered(controller));
    HARN_OK(cgroup.add_group(controller, found->second, cgroup_name(request.run_id)));
  }
  HARN_OK(cgroup.files_.write(request.values));
  return cgroup;
}

Status Cgroup::add_group(std::string_view controller, const AbsPath& parent, const std::string& name) {
  const auto directory = parent.join(name);
  files_.directories.emplace(controller, directory);
  if (owned_.contains(directory)) return {};  // hierarchies mounted together
  sweep_dead_runs(parent);
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    // Closed to other users, who could hold the lock themselves.
    if (::mkdir(directory.text().c_str(), 0700) != 0) return fail(cgroup_failure("mkdir", directory.text(), errno));
    sys::UniqueFd lock(::open(directory.text().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // Another run's sweep may meet the directory before it is locked, and remove it.
    if (lock && ::flock(lock.get(), LOCK_EX) == 0 && still_named(lock, directory)) {
      owned_.emplace(directory, std::move(lock));
      return {};
    }
    ::rmdir(directory.text().c_str());
  }
  return fail(cgroup_failure("flock", directory.text(), EBUSY));
}

Cgroup::~Cgroup() {
  if (!owned_.empty()) kill_all();
  for (const auto& [directory, lock] : owned_) remove_cgroup(directory);
}

std::vector<std::string> Cgroup::join_files() const {
  std::vector<std::string> files;
  for (const auto& [directory, lock] : owned_) files.push_back(directory.join("cgroup.procs").text());
  return files;
}

void Cgroup::kill_all() const {
  // Every member is in every group of this run.
  const auto found = files_.directories.find(files_.kind == CgroupKind::v2 ? "" : "pids");
  if (found != files_.directories.end()) kill_members(found->second);
}

}  // namespace harn::run
