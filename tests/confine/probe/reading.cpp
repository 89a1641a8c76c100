// SPDX-License-Identifier: Apache-2.0
// Ways to a file's content, or to the knowledge that it exists.
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <vector>

#include "probe.h"
#include "sys/uapi/landlock.h"

extern char** environ;

namespace probe {
namespace {

int read_from(int fd) {
  char byte = 0;
  return fd < 0 ? errno : verdict(::read(fd, &byte, 1));
}

int open_read(Args args) { return read_from(::open(args[0].c_str(), O_RDONLY)); }

int open_only(Args args) { return verdict(::open(args[0].c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY)); }

int openat2_read(Args args) {
  open_how how = {.flags = O_RDONLY, .mode = 0, .resolve = 0};
  return read_from(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, args[0].c_str(), &how, sizeof how)));
}

int open_path_reopen(Args args) {
  const int held = ::open(args[0].c_str(), O_PATH);
  if (held < 0) return errno;
  return read_from(::open(("/proc/self/fd/" + std::to_string(held)).c_str(), O_RDONLY));
}

int list(Args args) {
  DIR* directory = ::opendir(args[0].c_str());
  if (directory == nullptr) return errno;
  errno = 0;
  return ::readdir(directory) == nullptr ? (errno != 0 ? errno : ENODATA) : 0;
}

// Whether a directory admits that it holds a name.
int see_name(Args args) {
  DIR* directory = ::opendir(args[0].c_str());
  if (directory == nullptr) return errno;
  while (const dirent* entry = ::readdir(directory))
    if (entry->d_name == args[1]) return 0;
  return ENOENT;
}

int stat_path(Args args) {
  struct stat seen = {};
  return verdict(::stat(args[0].c_str(), &seen));
}

int statx_path(Args args) {
  struct statx seen = {};
  return verdict(::statx(AT_FDCWD, args[0].c_str(), AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &seen));
}

int access_path(Args args) { return verdict(::access(args[0].c_str(), F_OK)); }

int read_link(Args args) {
  char target[256];
  return verdict(::readlink(args[0].c_str(), target, sizeof target));
}

int get_xattr(Args args) {
  char value[64];
  return verdict(::getxattr(args[0].c_str(), args[1].c_str(), value, sizeof value));
}

int chdir_read(Args args) {
  if (::chdir(args[0].c_str()) != 0) return errno;
  return open_read(args.subspan(1));
}

int chdir_only(Args args) { return verdict(::chdir(args[0].c_str())); }

// A directory that is gone still has a parent to climb from.
int climb_from_deleted(Args args) {
  if (::mkdir(args[0].c_str(), 0700) != 0 || ::chdir(args[0].c_str()) != 0 || ::rmdir(args[0].c_str()) != 0) return EDOM;
  return open_read(args.subspan(1));
}

int watch(Args args) {
  const int watcher = ::inotify_init1(0);
  return watcher < 0 ? errno : verdict(::inotify_add_watch(watcher, args[0].c_str(), IN_ALL_EVENTS));
}

// Until exec the child shares our memory, so its errno is ours to read.
int exit_of(const char* program, std::vector<const char*> words, int fd = -1) {
  volatile int failed = 0;
  words.push_back(nullptr);
  const pid_t child = ::vfork();
  if (child == 0) {
    auto* const* argv = const_cast<char* const*>(words.data());
    if (fd >= 0) ::fexecve(fd, argv, environ);
    else ::execve(program, argv, environ);
    failed = errno;
    ::_exit(1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (failed != 0) return failed;
  return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

int exec(Args args) { return exit_of(args[0].c_str(), {args[0].c_str()}); }

// The loader maps the program itself and says 127 when it may not.
int exec_by_loader(Args args) { return exit_of(args[0].c_str(), {"ld.so", args[1].c_str()}) == 0 ? 0 : ELIBACC; }

// A program that has no name still lives inside the boundary: it tries the same reading again.
int exec_memory(Args args) {
  const int self = ::open("/proc/self/exe", O_RDONLY);
  const int copy = ::memfd_create("copy", 0);
  if (self < 0 || copy < 0) return errno;
  struct stat size = {};
  ::fstat(self, &size);
  for (off_t at = 0; at < size.st_size;)
    if (::sendfile(copy, self, &at, static_cast<std::size_t>(size.st_size)) <= 0) return errno;
  return exit_of(nullptr, {"copy", "--one", "open_read", args[0].c_str()}, copy);
}

int symlink_read(Args args) {
  if (::symlink(args[0].c_str(), args[1].c_str()) != 0) return errno;
  return open_read(args.subspan(1));
}

int link_read(Args args) {
  if (::link(args[0].c_str(), args[1].c_str()) != 0) return errno;
  return open_read(args.subspan(1));
}

int rename_read(Args args) {
  if (::rename(args[0].c_str(), args[1].c_str()) != 0) return errno;
  return open_read(args.subspan(args.size() - 1));
}

// The kernel's struct ends in as many bytes as the file system likes.
struct Handle {
  alignas(file_handle) unsigned char bytes[sizeof(file_handle) + 128] = {};
  file_handle* head() { return reinterpret_cast<file_handle*>(bytes); }
};

int name_handle(Args args) {
  Handle handle;
  int mount = 0;
  handle.head()->handle_bytes = 128;
  return verdict(::name_to_handle_at(AT_FDCWD, args[0].c_str(), handle.head(), &mount, 0));
}

// As in the container escapes: numbers are guessed, and the root directory is 2 nearly everywhere.
int open_handle(Args args) {
  Handle handle;
  handle.head()->handle_bytes = 8;
  handle.head()->handle_type = 1;
  handle.bytes[sizeof(file_handle)] = 2;
  const int mount = ::open(args[0].c_str(), O_RDONLY);
  if (mount < 0) return errno;
  return verdict_past(::open_by_handle_at(mount, handle.head(), O_RDONLY), ESTALE);
}

// A domain of one's own that allows everything must not lift the one around it.
int landlock_wider(Args args) {
  namespace uapi = harn::sys::uapi;
  uapi::LandlockRulesetAttr attributes = {};
  attributes.handled_access_fs = (1u << 13) - 1;
  const long ruleset = ::syscall(uapi::landlock_create_ruleset_number, &attributes, 8, 0);
  if (ruleset < 0) return errno;
  const uapi::LandlockPathBeneathAttr rule = {.allowed_access = attributes.handled_access_fs, .parent_fd = ::open("/", O_PATH)};
  if (::syscall(uapi::landlock_add_rule_number, ruleset, uapi::landlock_rule_path_beneath, &rule, 0) != 0) return errno;
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (::syscall(uapi::landlock_restrict_self_number, ruleset, 0) != 0) return errno;
  return open_read(args);
}

constexpr Probe table[] = {
    {"open_read", open_read},
    {"open_only", open_only},
    {"openat2_read", openat2_read},
    {"open_path_reopen", open_path_reopen},
    {"list", list},
    {"see_name", see_name},
    {"stat", stat_path},
    {"statx", statx_path},
    {"access", access_path},
    {"readlink", read_link},
    {"getxattr", get_xattr},
    {"chdir_read", chdir_read},
    {"chdir", chdir_only},
    {"climb_from_deleted", climb_from_deleted},
    {"watch", watch},
    {"exec", exec},
    {"exec_by_loader", exec_by_loader},
    {"exec_memory", exec_memory},
    {"symlink_read", symlink_read},
    {"link_read", link_read},
    {"rename_read", rename_read},
    {"name_handle", name_handle},
    {"open_handle", open_handle},
    {"landlock_wider", landlock_wider},
};

}  // namespace

Probes reading() { return table; }

}  // namespace probe
