// SPDX-License-Identifier: Apache-2.0
// Nothing exists but what was unveiled: a root of its own into which every entry is mounted, outer ones first, each
// with the permissions that it alone says. Landlock adds what a mount cannot: writing without creating.
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "foreign/openbsd/shim.h"
#include "sys/uapi/landlock.h"

namespace harn::shim {
namespace {

namespace fs = std::filesystem;

constexpr const char* new_root = "/mnt";  // in namespaces of our own: nothing of it is seen outside

bool has(const Entry& entry, char letter) { return entry.permissions.find(letter) != std::string::npos; }

bool write_text(const char* path, const std::string& text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  const bool done = fd >= 0 && ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (fd >= 0) ::close(fd);
  return done;
}

int own_mounts() {
  const auto uid = ::geteuid();
  const auto gid = ::getegid();
  if (::unshare(uid == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) != 0) return errno;
  if (uid != 0) {
    if (!write_text("/proc/self/setgroups", "deny")) return errno;
    if (!write_text("/proc/self/uid_map", std::to_string(uid) + " " + std::to_string(uid) + " 1")) return errno;
    if (!write_text("/proc/self/gid_map", std::to_string(gid) + " " + std::to_string(gid) + " 1")) return errno;
  }
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 ? 0 : errno;
}

int mount_entry(const Entry& entry, const std::string& source) {
  const auto target = new_root + source;
  std::error_code ignored;
  const bool directory = fs::is_directory(source, ignored);
  // Where an outer entry is mounted the place is there already, and must not be made on the host.
  if (!fs::exists(target, ignored)) {
    fs::create_directories(directory ? fs::path(target) : fs::path(target).parent_path(), ignored);
    if (!directory) std::ofstream(target).close();
  }
  if (entry.permissions.empty()) {
    if (!directory) return ::mount("/dev/null", target.c_str(), nullptr, MS_BIND, nullptr) == 0 ? 0 : errno;
    return ::mount("hidden", target.c_str(), "tmpfs", MS_RDONLY, "size=4k,mode=000") == 0 ? 0 : errno;
  }
  if (::mount(source.c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) return errno;
  unsigned long flags = MS_BIND | MS_REMOUNT | MS_NOSUID;
  if (!has(entry, 'w') && !has(entry, 'c')) flags |= MS_RDONLY;
  if (!has(entry, 'x')) flags |= MS_NOEXEC;
  // What a mount of the host forbids must stay forbidden, or the kernel refuses.
  if (::mount(nullptr, target.c_str(), nullptr, flags, nullptr) == 0) return 0;
  for (const unsigned long more : {static_cast<unsigned long>(MS_NODEV), static_cast<unsigned long>(MS_NODEV | MS_NOEXEC),
                                   static_cast<unsigned long>(MS_NODEV | MS_NOEXEC | MS_RDONLY), static_cast<unsigned long>(MS_RELATIME),
                                   static_cast<unsigned long>(MS_NODEV | MS_RELATIME)})
    if (::mount(nullptr, target.c_str(), nullptr, flags | more, nullptr) == 0) return 0;
  return errno;
}

// A link on the way stands in the new root as it stands in the old one.
void keep_links(const std::string& path) {
  std::error_code ignored;
  fs::path walked = "/";
  for (const auto& part : fs::path(path).relative_path()) {
    walked /= part;
    if (!fs::is_symlink(walked, ignored)) continue;
    const auto place = fs::path(new_root + walked.string());
    fs::create_directories(place.parent_path(), ignored);
    fs::create_symlink(fs::read_symlink(walked, ignored), place, ignored);
    return;
  }
}

int restrict_by_landlock(const std::vector<Entry>& entries) {
  using namespace sys::uapi;
  constexpr std::uint64_t read = landlock_fs_read_file | landlock_fs_read_dir;
  constexpr std::uint64_t create = landlock_fs_remove_dir | landlock_fs_remove_file | landlock_fs_make_char | landlock_fs_make_dir |
                                   landlock_fs_make_reg | landlock_fs_make_sock | landlock_fs_make_fifo | landlock_fs_make_block |
                                   landlock_fs_make_sym | landlock_fs_refer;
  constexpr std::uint64_t write = landlock_fs_write_file | landlock_fs_truncate;
  constexpr std::uint64_t of_files = landlock_fs_execute | landlock_fs_read_file | write;
  LandlockRulesetAttr attributes;
  attributes.handled_access_fs = read | create | write | landlock_fs_execute;
  const int rules = static_cast<int>(::syscall(landlock_create_ruleset_number, &attributes, sizeof attributes.handled_access_fs, 0));
  if (rules < 0) return errno;
  for (const auto& entry : entries) {
    if (entry.permissions.empty()) continue;
    std::uint64_t allowed = 0;
    if (has(entry, 'r')) allowed |= read;
    if (has(entry, 'w')) allowed |= write;
    if (has(entry, 'x')) allowed |= landlock_fs_execute;
    if (has(entry, 'c')) allowed |= create;
    const int at = ::open(entry.path.c_str(), O_PATH | O_CLOEXEC);
    if (at < 0) continue;  // a name that does not exist
    struct stat seen = {};
    if (::fstat(at, &seen) == 0 && !S_ISDIR(seen.st_mode)) allowed &= of_files;
    LandlockPathBeneathAttr rule;
    rule.allowed_access = allowed;
    rule.parent_fd = at;
    const bool added = allowed == 0 || ::syscall(landlock_add_rule_number, rules, landlock_rule_path_beneath, &rule, 0) == 0;
    const int error = errno;
    ::close(at);
    if (!added) return error;
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::syscall(landlock_restrict_self_number, rules, 0) != 0) return errno;
  ::close(rules);
  return 0;
}

}  // namespace

int show_only(const std::vector<Entry>& given) {
  auto entries = given;
  std::ranges::sort(entries, {}, &Entry::path);  // outer ones first
  char* cwd = ::getcwd(nullptr, 0);
  if (cwd == nullptr) return errno;
  if (const int error = own_mounts(); error != 0) return error;
  if (::mount("root", new_root, "tmpfs", 0, "mode=755") != 0) return errno;
  std::error_code ignored;
  // Debian's /bin and /lib64 are links into /usr, which OpenBSD has nothing like.
  for (const auto& top : fs::directory_iterator("/", ignored)) keep_links(top.path().string());
  for (auto& entry : entries) {
    keep_links(entry.path);
    const auto real = fs::canonical(entry.path, ignored);
    if (ignored) continue;  // a name that does not exist
    if (const int error = mount_entry(entry, real.string()); error != 0) return error;
  }
  if (::chdir(new_root) != 0 || ::syscall(SYS_pivot_root, ".", ".") != 0) return errno;
  if (::umount2(".", MNT_DETACH) != 0 || ::chdir("/") != 0) return errno;
  if (::mount(nullptr, "/", nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) != 0) return errno;
  // As on OpenBSD, a directory one stands in stays one's own also where it is not unveiled; here it is gone.
  if (::chdir(cwd) != 0) return errno;
  ::free(cwd);
  return restrict_by_landlock(entries);
}

}  // namespace harn::shim
