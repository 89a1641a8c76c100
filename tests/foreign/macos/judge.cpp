// SPDX-License-Identifier: Apache-2.0
#include "foreign/macos/judge.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <vector>

namespace harn::standin {
namespace {

namespace fs = std::filesystem;

std::string read_text(pid_t pid, std::uint64_t address) {
  std::string out;
  char buffer[256];
  while (out.size() < PATH_MAX) {
    // Up to the end of a page: the next one may not be there.
    const auto room = std::min<std::uint64_t>(sizeof buffer, 4096 - (address + out.size()) % 4096);
    iovec here = {.iov_base = buffer, .iov_len = room};
    iovec there = {.iov_base = reinterpret_cast<void*>(address + out.size()), .iov_len = room};
    const auto got = ::process_vm_readv(pid, &here, 1, &there, 1, 0);
    if (got <= 0) return out;
    const auto* end = static_cast<const char*>(std::memchr(buffer, 0, static_cast<std::size_t>(got)));
    if (end != nullptr) return out.append(buffer, static_cast<std::size_t>(end - buffer));
    out.append(buffer, static_cast<std::size_t>(got));
  }
  return out;
}

std::string link_of(const std::string& path) {
  std::error_code ignored;
  return fs::read_symlink(path, ignored).string();
}

// Where it really is: every link resolved but, where the call does not follow it, the last one.
std::string real(const Asked& asked, int directory, std::uint64_t address, bool follow = true) {
  auto text = read_text(asked.pid, address);
  const auto process = "/proc/" + std::to_string(asked.pid);
  if (text.empty()) return link_of(process + (directory == AT_FDCWD ? "/cwd" : "/fd/" + std::to_string(directory)));
  if (text[0] != '/') text = link_of(process + (directory == AT_FDCWD ? "/cwd" : "/fd/" + std::to_string(directory))) + "/" + text;
  std::error_code ignored;
  fs::path path(text);
  while (!path.has_filename() && path.has_relative_path()) path = path.parent_path();  // a slash at the end
  if (follow || path.filename() == ".." || path.filename() == ".") return fs::weakly_canonical(path, ignored).string();
  return (fs::weakly_canonical(path.parent_path(), ignored) / path.filename()).string();
}

int directory_of(std::uint64_t argument) { return static_cast<int>(static_cast<std::int64_t>(argument)); }

bool is_in_same_tree(pid_t one, pid_t other) {
  // Everybody with the filter descends from the command, whose parent is this process.
  for (pid_t at = other; at > 1;) {
    if (at == ::getpid() || at == one) return true;
    char name[64];
    std::snprintf(name, sizeof name, "/proc/%d/stat", at);
    const int fd = ::open(name, O_RDONLY | O_CLOEXEC);
    char text[512] = {};
    const auto got = fd < 0 ? -1 : ::read(fd, text, sizeof text - 1);
    if (fd >= 0) ::close(fd);
    const char* end = got > 0 ? std::strrchr(text, ')') : nullptr;
    if (end == nullptr || std::sscanf(end + 1, " %*c %d", &at) != 1) return false;
  }
  return false;
}

}  // namespace

std::optional<Judge> Judge::make(const std::string& profile, std::string& problem) {
  auto parsed = plan::SbplProfile::parse(profile, problem);
  if (!parsed) return std::nullopt;
  return Judge(std::move(*parsed));
}

int Judge::socket_error(const Asked& asked, std::string operation) const {
  const auto length = asked.call == SYS_sendto ? asked.arguments[5] : asked.arguments[2];
  const auto address = asked.call == SYS_sendto ? asked.arguments[4] : asked.arguments[1];
  if (address == 0) return 0;  // on a socket that is connected
  sockaddr_storage storage = {};
  iovec here = {.iov_base = &storage, .iov_len = std::min<std::size_t>(length, sizeof storage)};
  iovec there = {.iov_base = reinterpret_cast<void*>(address), .iov_len = here.iov_len};
  if (::process_vm_readv(asked.pid, &here, 1, &there, 1, 0) <= 0) return EFAULT;
  plan::SbplAttempt attempt{.operation = operation};
  auto& end = operation == "network-bind" ? attempt.local : attempt.remote;
  char text[INET6_ADDRSTRLEN] = {};
  if (storage.ss_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&storage);
    const bool own = (ntohl(v4->sin_addr.s_addr) >> 24) == 127;
    end = (own ? std::string("localhost") : ::inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text)) +
          (":" + std::to_string(ntohs(v4->sin_port)));
  } else if (storage.ss_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&storage);
    const bool own = IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
    end = (own ? std::string("localhost") : ::inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text)) +
          (":" + std::to_string(ntohs(v6->sin6_port)));
  } else if (storage.ss_family == AF_UNIX) {
    attempt.socket = reinterpret_cast<const sockaddr_un*>(&storage)->sun_path;
    if (attempt.socket.empty()) return EPERM;
  } else {
    return 0;  // nothing leaves by it
  }
  return profile_.allows(attempt) ? 0 : EPERM;
}

int Judge::file_error(const Asked& asked) const {
  const auto& a = asked.arguments;
  const auto judged = [&](const std::string& path, std::initializer_list<const char*> operations) {
    for (const auto* operation : operations)
      if (!allows(operation, path)) return EPERM;
    return 0;
  };
  const auto exists = [](const std::string& path) {
    struct stat seen = {};
    return ::lstat(path.c_str(), &seen) == 0;
  };
  const auto opened = [&](const std::string& path, std::uint64_t flags) {
    if ((flags & O_PATH) != 0) return judged(path, {"file-read-metadata"});
    if ((flags & O_CREAT) != 0 && !exists(path))
      if (const int error = judged(path, {"file-write-create"}); error != 0) return error;
    const auto mode = flags & O_ACCMODE;
    if (mode != O_WRONLY)
      if (const int error = judged(path, {"file-read-data"}); error != 0) return error;
    return mode != O_RDONLY || (flags & O_TRUNC) != 0 ? judged(path, {"file-write-data"}) : 0;
  };
  const auto moved = [&](const std::string& from, const std::string& to) {
    if (const int error = judged(from, {"file-write-unlink"}); error != 0) return error;
    if (exists(to))
      if (const int error = judged(to, {"file-write-unlink"}); error != 0) return error;
    return judged(to, {"file-write-create"});
  };
  switch (asked.call) {
    case SYS_open: return opened(real(asked, AT_FDCWD, a[0]), a[1]);
    case SYS_creat: return opened(real(asked, AT_FDCWD, a[0]), O_CREAT | O_WRONLY | O_TRUNC);
    case SYS_openat: return opened(real(asked, directory_of(a[0]), a[1], (a[2] & O_NOFOLLOW) == 0), a[2]);
    case SYS_stat:
    case SYS_access: return judged(real(asked, AT_FDCWD, a[0]), {"file-read-metadata"});
    case SYS_lstat:
    case SYS_readlink: return judged(real(asked, AT_FDCWD, a[0], false), {"file-read-metadata"});
    case SYS_readlinkat: return judged(real(asked, directory_of(a[0]), a[1], false), {"file-read-metadata"});
    case SYS_newfstatat:
    case SYS_statx:
      if (read_text(asked.pid, a[1]).empty()) return 0;  // of a descriptor
      return judged(real(asked, directory_of(a[0]), a[1]), {"file-read-metadata"});
    case SYS_faccessat:
    case SYS_faccessat2: return judged(real(asked, directory_of(a[0]), a[1]), {"file-read-metadata"});
    case SYS_chdir: return judged(real(asked, AT_FDCWD, a[0]), {"file-read-metadata"});
    case SYS_unlink:
    case SYS_rmdir: return judged(real(asked, AT_FDCWD, a[0], false), {"file-write-unlink"});
    case SYS_unlinkat: return judged(real(asked, directory_of(a[0]), a[1], false), {"file-write-unlink"});
    case SYS_mkdir:
    case SYS_mknod: return judged(real(asked, AT_FDCWD, a[0], false), {"file-write-create"});
    case SYS_mkdirat:
    case SYS_mknodat: return judged(real(asked, directory_of(a[0]), a[1], false), {"file-write-create"});
    case SYS_symlink: return judged(real(asked, AT_FDCWD, a[1], false), {"file-write-create"});
    case SYS_symlinkat: return judged(real(asked, directory_of(a[1]), a[2], false), {"file-write-create"});
    case SYS_rename: return moved(real(asked, AT_FDCWD, a[0], false), real(asked, AT_FDCWD, a[1], false));
    case SYS_renameat:
    case SYS_renameat2: return moved(real(asked, directory_of(a[0]), a[1], false), real(asked, directory_of(a[2]), a[3], false));
    case SYS_link:
    case SYS_linkat: {
      const bool at = asked.call == SYS_linkat;
      const auto from = real(asked, at ? directory_of(a[0]) : AT_FDCWD, at ? a[1] : a[0], false);
      const auto to = real(asked, at ? directory_of(a[2]) : AT_FDCWD, at ? a[3] : a[1], false);
      if (const int error = judged(from, {"file-link"}); error != 0) return error;
      return judged(to, {"file-write-create"});
    }
    case SYS_truncate: return judged(real(asked, AT_FDCWD, a[0]), {"file-write-data"});
    case SYS_chmod: return judged(real(asked, AT_FDCWD, a[0]), {"file-write-mode"});
    case SYS_fchmodat: return judged(real(asked, directory_of(a[0]), a[1]), {"file-write-mode"});
    case SYS_chown:
    case SYS_lchown: return judged(real(asked, AT_FDCWD, a[0]), {"file-write-owner"});
    case SYS_fchownat: return judged(real(asked, directory_of(a[0]), a[1]), {"file-write-owner"});
    case SYS_utimensat: return a[1] == 0 ? 0 : judged(real(asked, directory_of(a[0]), a[1]), {"file-write-times"});
    case SYS_execve: return judged(real(asked, AT_FDCWD, a[0]), {"process-exec"});
    case SYS_execveat: return judged(real(asked, directory_of(a[0]), a[1]), {"process-exec"});
    default: return EPERM;
  }
}

int Judge::error_for(const Asked& asked) const {
  switch (asked.call) {
    case SYS_connect:
    case SYS_sendto: return socket_error(asked, "network-outbound");
    case SYS_bind: return socket_error(asked, "network-bind");
    case SYS_kill: {
      const auto target = static_cast<pid_t>(static_cast<std::int64_t>(asked.arguments[0]));
      const bool same = target <= 0 || is_in_same_tree(asked.pid, target);
      return profile_.allows(plan::SbplAttempt{.operation = "signal", .same_sandbox = same}) ? 0 : EPERM;
    }
    default: return file_error(asked);
  }
}

}  // namespace harn::standin
