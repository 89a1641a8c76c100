// SPDX-License-Identifier: Apache-2.0
#include "embed/works_outside.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

#include <fmt/format.h>

namespace harn::embed {
namespace {

enum Right : mode_t {
  may_read = 4,
  may_write = 2,
  may_run = 1  // or search a directory
};

using Status = struct stat;

std::optional<Status> look(const AbsPath& path, int flags) {
  Status status = {};
  if (::fstatat(AT_FDCWD, path.text().c_str(), &status, flags) != 0) return std::nullopt;
  return status;
}

bool is_in_group(gid_t group) {
  if (group == ::getegid()) return true;
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(0, ::getgroups(0, nullptr))));
  const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
  groups.resize(static_cast<std::size_t>(std::max(0, count)));
  return std::ranges::find(groups, group) != groups.end();
}

// Root's privileges do not go along into a command, so the bits count for it as for anybody.
bool by_mode(const Status& status, mode_t wanted) {
  const mode_t granted = status.st_uid == ::geteuid() ? status.st_mode >> 6u
                         : is_in_group(status.st_gid) ? status.st_mode >> 3u
                                                      : status.st_mode;
  return (granted & wanted) == wanted;
}

// The kernel's own answer knows more (lists of rights, read-only file systems); for root it knows too much.
bool may(const AbsPath& path, mode_t wanted) {
  const auto status = look(path, 0);
  if (!status) return false;
  if (::geteuid() == 0 && !by_mode(*status, wanted)) return false;
  return ::faccessat(AT_FDCWD, path.text().c_str(), static_cast<int>(wanted), AT_EACCESS) == 0;
}

bool reachable(const AbsPath& path) {
  if (path.is_root()) return true;
  const auto above = path.parent();
  return reachable(above) && may(above, may_run);
}

bool may_change_names_in(const AbsPath& directory) { return may(directory, may_write | may_run); }

bool may_remove(const AbsPath& path, const Status& status) {
  const auto above = look(path.parent(), 0);
  if (!above || !may_change_names_in(path.parent())) return false;
  const bool kept = (above->st_mode & S_ISVTX) != 0 && status.st_uid != ::geteuid() && above->st_uid != ::geteuid();
  return !kept;
}

// Writable as far as the file system goes, and ours: only the owner changes modes.
bool may_change(const AbsPath& path, const Status& status) {
  return status.st_uid == ::geteuid() && (::faccessat(AT_FDCWD, path.text().c_str(), W_OK, AT_EACCESS) == 0 || errno != EROFS);
}

bool holds_line(const char* file, const auto& matches) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);)
    if (matches(line)) return true;
  return false;
}

}  // namespace

bool works_outside(const AbsPath& path, Wanted wanted) {
  if (!reachable(path)) return false;
  const auto itself = look(path, AT_SYMLINK_NOFOLLOW);
  if (wanted == Wanted::making) return !itself && may_change_names_in(path.parent());
  if (!itself) return false;
  switch (wanted) {
    case Wanted::finding: return true;
    case Wanted::removing: return may_remove(path, *itself);
    case Wanted::metadata: return may_change(path, *itself);
    case Wanted::reading: return may(path, may_read);
    case Wanted::writing: return may(path, may_write);
    case Wanted::running: {
      const auto target = look(path, 0);
      return target && S_ISREG(target->st_mode) && may(path, may_run);
    }
    case Wanted::reaching: {
      const auto target = look(path, 0);
      return target && S_ISSOCK(target->st_mode) && may(path, may_write);
    }
    default: return false;
  }
}

// "  0: 0100007F:1F90 00000000:0000 0A …": local address and port, peer, state 0A = listening.
bool listens_on_loopback(std::uint16_t port) {
  const auto listens = [&](const std::string& line) {
    std::istringstream words(line);
    std::string number;
    std::string local;
    std::string peer;
    std::string state;
    words >> number >> local >> peer >> state;
    return state == "0A" && local.ends_with(fmt::format(":{:04X}", port));
  };
  return holds_line("/proc/net/tcp", listens) || holds_line("/proc/net/tcp6", listens);
}

bool listens_abstractly(const std::string& name) {
  return holds_line("/proc/net/unix", [&](const std::string& line) { return line.ends_with(" @" + name); });
}

}  // namespace harn::embed
