// SPDX-License-Identifier: Apache-2.0
#include "sys/cgroup_places.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "sys/files.h"

namespace harn::sys {
namespace {

constexpr std::size_t longest_table = 1u << 20;

std::string text_of(const AbsPath& file) {
  auto text = read_file(file, longest_table);
  return text ? std::move(*text) : std::string();
}

bool has_word(std::string_view text, std::string_view word, char separator) {
  const auto words = base::split(base::trim(text), separator);
  return std::ranges::find(words, word) != words.end();
}

bool has_controllers(const AbsPath& file) {
  const auto text = text_of(file);
  return has_word(text, "memory", ' ') && has_word(text, "pids", ' ');
}

bool is_writable_file(const AbsPath& path) { return ::faccessat(AT_FDCWD, path.text().c_str(), W_OK, AT_EACCESS) == 0; }

struct Mount {
  std::string_view root = {};  // which part of the hierarchy is mounted
  std::string_view point = {};
  std::string_view options = {};  // of the file system: v1 controllers are among them
  bool unified = false;
};

// "36 31 0:33 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory". A mount point with escaped
// characters is passed over: nobody mounts cgroups there.
std::vector<Mount> cgroup_mounts(std::string_view table) {
  std::vector<Mount> mounts;
  for (const auto line : base::split(table, '\n')) {
    const auto words = base::split(line, ' ');
    const auto dash = std::ranges::find(words, "-");
    if (words.size() < 6 || words.end() - dash < 4) continue;
    if (dash[1] != "cgroup" && dash[1] != "cgroup2") continue;
    if (words[4].find('\\') != std::string_view::npos) continue;
    mounts.push_back({.root = words[3], .point = words[4], .options = dash[3], .unified = dash[1] == "cgroup2"});
  }
  return mounts;
}

// The directory that shows `place`; none when the mount shows another part of the hierarchy.
std::optional<AbsPath> directory_at(const Mount& mount, std::string_view place) {
  if (mount.root != "/") {
    if (!place.starts_with(mount.root)) return std::nullopt;
    place.remove_prefix(mount.root.size());
    if (!place.empty() && place.front() != '/') return std::nullopt;
  }
  if (place.starts_with("/..")) return std::nullopt;
  auto path = AbsPath::parse(std::string(mount.point) + std::string(place == "/" ? "" : place));
  if (!path) return std::nullopt;
  return std::move(*path);
}

// A group that holds processes gives its controllers to no child; only the root of the hierarchy is
// free of that rule, and only the root has no cgroup.type. Elsewhere the new group becomes a sibling,
// which takes the right to move processes within the parent.
std::optional<AbsPath> place_v2(const AbsPath& own, const AbsPath& mount_point) {
  const bool root = type_of(own.join("cgroup.type")) == FileType::missing;
  if (root && has_controllers(own.join("cgroup.controllers")) && is_writable_directory(own)) return own;
  if (own == mount_point) return std::nullopt;
  auto parent = own.parent();
  if (has_controllers(parent.join("cgroup.subtree_control")) && is_writable_directory(parent) &&
      is_writable_file(parent.join("cgroup.procs")))
    return parent;
  return std::nullopt;
}

struct Membership {
  std::string_view controllers = {};  // empty for v2
  std::string_view place = {};
};

std::vector<Membership> memberships(std::string_view table) {
  std::vector<Membership> out;
  for (const auto line : base::split(table, '\n')) {
    const auto parts = base::split(line, ':');
    if (parts.size() >= 3) out.push_back({parts[1], line.substr(parts[0].size() + parts[1].size() + 2)});
  }
  return out;
}

}  // namespace

CgroupPlaces find_cgroup_places(const AbsPath& proc) {
  const auto mount_table = text_of(proc.join("self/mountinfo"));
  const auto group_table = text_of(proc.join("self/cgroup"));
  const auto mounts = cgroup_mounts(mount_table);
  CgroupPlaces v1{.kind = CgroupKind::v1};
  for (const auto& [controllers, place] : memberships(group_table)) {
    for (const auto& mount : mounts) {
      const auto directory = mount.unified == controllers.empty() ? directory_at(mount, place) : std::nullopt;
      if (!directory) continue;
      if (mount.unified) {
        if (auto base = place_v2(*directory, AbsPath::of(mount.point))) return {CgroupKind::v2, {{"", std::move(*base)}}};
        continue;
      }
      for (const std::string_view name : {"memory", "pids", "cpu", "cpuacct"})
        if (has_word(controllers, name, ',') && has_word(mount.options, name, ',') && is_writable_directory(*directory))
          v1.directories.try_emplace(std::string(name), *directory);
    }
  }
  return v1.directories.size() == 4 ? v1 : CgroupPlaces{};
}

std::optional<AbsPath> find_own_group(std::string_view controller, const AbsPath& proc) {
  const auto mount_table = text_of(proc.join("self/mountinfo"));
  const auto group_table = text_of(proc.join("self/cgroup"));
  for (const auto& [controllers, place] : memberships(group_table)) {
    if (controller.empty() ? !controllers.empty() : !has_word(controllers, controller, ',')) continue;
    for (const auto& mount : cgroup_mounts(mount_table)) {
      if (mount.unified != controller.empty() || (!mount.unified && !has_word(mount.options, controller, ','))) continue;
      auto directory = directory_at(mount, place);
      if (directory && is_writable_directory(*directory) && is_writable_file(directory->join("cgroup.procs"))) return directory;
    }
  }
  return std::nullopt;
}

}  // namespace harn::sys
