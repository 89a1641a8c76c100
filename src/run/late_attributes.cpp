// SPDX-License-Identifier: Apache-2.0
#include "run/late_attributes.h"

#include <errno.h>
#include <linux/mount.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "sys/files.h"

namespace harn::run {
namespace {

constexpr std::size_t longest_table = 16u << 20;

bool mount_setattr_is_missing() { return ::syscall(SYS_mount_setattr, -1, "", 0, nullptr, 0) != 0 && errno == ENOSYS; }

std::uint64_t flags_of(std::uint64_t attributes) {
  std::uint64_t flags = 0;
  if ((attributes & MOUNT_ATTR_RDONLY) != 0) flags |= MS_RDONLY;
  if ((attributes & MOUNT_ATTR_NOSUID) != 0) flags |= MS_NOSUID;
  if ((attributes & MOUNT_ATTR_NODEV) != 0) flags |= MS_NODEV;
  if ((attributes & MOUNT_ATTR_NOEXEC) != 0) flags |= MS_NOEXEC;
  return flags;
}

// What a mount has already: in a user namespace it may not be taken away, and a remount without it would. Nothing
// where this process cannot get to; the command cannot either.
std::optional<std::uint64_t> present_flags(const std::string& path) {
  struct statvfs found = {};
  if (::statvfs(path.c_str(), &found) != 0) return std::nullopt;
  std::uint64_t flags = 0;
  if ((found.f_flag & ST_RDONLY) != 0) flags |= MS_RDONLY;
  if ((found.f_flag & ST_NOSUID) != 0) flags |= MS_NOSUID;
  if ((found.f_flag & ST_NODEV) != 0) flags |= MS_NODEV;
  if ((found.f_flag & ST_NOEXEC) != 0) flags |= MS_NOEXEC;
  return flags;
}

}  // namespace

LateAttributes::LateAttributes() : needed_(mount_setattr_is_missing()) {
  if (!needed_) return;
  if (const auto table = sys::read_file(AbsPath::of("/proc/self/mountinfo"), longest_table)) mounts_ = sys::parse_mounts(*table);
}

void LateAttributes::add(ScriptWriter& writer, const AbsPath& target, const std::string& source, std::uint64_t attributes) const {
  const auto remount = [&](const std::string& where, std::uint64_t present) {
    writer.add(
        {.op = child::Op::remount, .mask = flags_of(attributes) | present, .text = writer.text(where == "/" ? "." : where.substr(1))},
        fmt::format("narrow {}", base::quoted(where)));
  };
  remount(target.text(), source.empty() ? 0 : present_flags(source).value_or(0));
  if (source.empty()) return;
  const auto beneath = source == "/" ? source : source + "/";
  for (const auto& mount : mounts_) {
    if (!mount.point.starts_with(beneath) || mount.point == source) continue;
    if (const auto present = present_flags(mount.point)) remount(target.join(mount.point.substr(beneath.size())).text(), *present);
  }
}

}  // namespace harn::run
