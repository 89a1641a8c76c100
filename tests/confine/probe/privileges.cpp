// SPDX-License-Identifier: Apache-2.0
// Ways to become more than one was: ids, capabilities, set-user-id programs, namespaces.
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "probe.h"

namespace probe {
namespace {

constexpr uid_t somebody = 1234;

int set_user(Args) { return verdict(::syscall(SYS_setresuid, somebody, somebody, somebody)); }
int set_group(Args) { return verdict(::syscall(SYS_setresgid, somebody, somebody, somebody)); }

int set_groups(Args) {
  const gid_t groups[] = {somebody};
  return verdict(::syscall(SYS_setgroups, 1, groups));
}

int give_away(Args args) { return verdict(::chown(args[0].c_str(), somebody, somebody)); }

int ask_capabilities(__user_cap_data_struct (&held)[2]) {
  __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  return verdict(::syscall(SYS_capget, &header, held));
}

// Whether any capability is left, in any set a program could raise it from.
int hold_capability(Args) {
  __user_cap_data_struct held[2] = {};
  if (const int error = ask_capabilities(held)) return error;
  return (held[0].effective | held[0].permitted | held[1].effective | held[1].permitted) != 0 ? 0 : EPERM;
}

int raise_capability(Args) {
  __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct wanted[2] = {};
  wanted[0].effective = wanted[0].permitted = 1u << CAP_CHOWN;
  return verdict(::syscall(SYS_capset, &header, wanted));
}

// uid 0 regains its capabilities by starting a program, unless that was taken away too.
int regain_by_exec(Args args) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl(args[0].c_str(), args[0].c_str(), "--one", "hold_capability", nullptr);
    ::_exit(errno);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

int is_root(Args) { return ::geteuid() == 0 ? 0 : EPERM; }

int run_set_user_id(Args args) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl(args[0].c_str(), args[0].c_str(), "--one", "is_root", nullptr);
    ::_exit(errno);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

// A set-user-id program of one's own making waits for somebody else to run it; it must at least not
// belong to anybody else.
int make_set_user_id(Args args) {
  const int fd = ::open(args[0].c_str(), O_CREAT | O_WRONLY, 0700);
  if (fd < 0 || ::fchown(fd, somebody, somebody) != 0) return errno;
  return verdict(::fchmod(fd, 04755));
}

// A program of our own that runs with our rights, whoever starts it.
int own_set_user_id(Args args) {
  const int fd = ::open(args[0].c_str(), O_CREAT | O_WRONLY, 0700);
  return fd < 0 ? errno : verdict(::fchmod(fd, 04755));
}

int own_set_user_id_by_path(Args args) {
  const int fd = ::open(args[0].c_str(), O_CREAT | O_WRONLY, 0700);
  return fd < 0 ? errno : verdict(::syscall(SYS_fchmodat, AT_FDCWD, args[0].c_str(), 04755));
}

int own_set_user_id_opened(Args args) { return verdict(::open(args[0].c_str(), O_CREAT | O_EXCL | O_WRONLY, 04755)); }
int own_set_user_id_unnamed(Args args) { return verdict(::open(args[0].c_str(), O_TMPFILE | O_WRONLY, 04755)); }
int own_set_user_id_made(Args args) { return verdict(::mknod(args[0].c_str(), S_IFREG | 04755, 0)); }

int own_set_user_id_opened2(Args args) {
  const open_how how = {.flags = O_CREAT | O_EXCL | O_WRONLY, .mode = 04755, .resolve = 0};
  return verdict(::syscall(SYS_openat2, AT_FDCWD, args[0].c_str(), &how, sizeof how));
}

int own_set_group_id(Args args) {
  const int fd = ::open(args[0].c_str(), O_CREAT | O_WRONLY, 0700);
  return fd < 0 ? errno : verdict(::fchmod(fd, 02755));
}

int file_capability(Args args) {
  const int fd = ::open(args[0].c_str(), O_CREAT | O_WRONLY, 0700);
  if (fd < 0) return errno;
  const vfs_cap_data granted = {.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE, .data = {{1u << CAP_CHOWN, 0}, {0, 0}}};
  return verdict(::fsetxattr(fd, "security.capability", &granted, sizeof granted, 0));
}

int trusted_attribute(Args args) { return verdict(::setxattr(args[0].c_str(), "trusted.harn", "x", 1, 0)); }

int ambient(Args) {
  __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct held[2] = {};
  if (const int error = ask_capabilities(held)) return error;
  held[0].inheritable = held[0].permitted;
  if (::syscall(SYS_capset, &header, held) != 0) return errno;
  return verdict(::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_CHOWN, 0, 0));
}

int unlock_secure_bits(Args) { return verdict(::prctl(PR_SET_SECUREBITS, 0, 0, 0, 0)); }

template <int Flags>
int unshare_flags(Args) {
  return verdict(::unshare(Flags));
}

template <unsigned long Flags>
int clone_flags(Args) {
  const long pid = ::syscall(SYS_clone, Flags | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (pid == 0) ::_exit(0);
  if (pid < 0) return errno;
  ::waitpid(static_cast<pid_t>(pid), nullptr, __WALL);
  return 0;
}

// Its flags stand behind a pointer, where no filter looks.
int clone3_user(Args) {
  clone_args wanted = {};
  wanted.flags = CLONE_NEWUSER;
  wanted.exit_signal = SIGCHLD;
  const long pid = ::syscall(SYS_clone3, &wanted, sizeof wanted);
  if (pid == 0) ::_exit(0);
  if (pid < 0) return errno;
  ::waitpid(static_cast<pid_t>(pid), nullptr, __WALL);
  return 0;
}

int join_namespace(Args args) {
  const int fd = ::open(args[0].c_str(), O_RDONLY);
  return fd < 0 ? errno : verdict(::setns(fd, 0));
}

int join_process(Args args) {
  const long fd = ::syscall(SYS_pidfd_open, ::atoi(args[0].c_str()), 0);
  return fd < 0 ? errno : verdict(::setns(static_cast<int>(fd), CLONE_NEWUTS));
}

// A filter that allows everything, installed on top, must not open what the one below refuses.
int filter_wider(Args) {
  sock_filter allow = {.code = BPF_RET | BPF_K, .jt = 0, .jf = 0, .k = SECCOMP_RET_ALLOW};
  sock_fprog program = {.len = 1, .filter = &allow};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) return errno;
  return verdict(::socket(AF_INET, SOCK_STREAM, 0));
}

int filter_listener(Args) {
  sock_filter allow = {.code = BPF_RET | BPF_K, .jt = 0, .jf = 0, .k = SECCOMP_RET_ALLOW};
  sock_fprog program = {.len = 1, .filter = &allow};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  return verdict(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
}

// No kernel can do either; a mistake of ours could make it look possible.
int filter_off(Args) { return verdict(::prctl(PR_SET_SECCOMP, 0, 0, 0, 0)); }
int privileges_again(Args) {
  return ::prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0 || ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0 ? 0 : EINVAL;
}

constexpr Probe table[] = {
    {"setresuid", set_user},
    {"setresgid", set_group},
    {"setgroups", set_groups},
    {"give_away", give_away},
    {"hold_capability", hold_capability},
    {"raise_capability", raise_capability},
    {"regain_by_exec", regain_by_exec},
    {"is_root", is_root},
    {"run_set_user_id", run_set_user_id},
    {"make_set_user_id", make_set_user_id},
    {"own_set_user_id", own_set_user_id},
    {"own_set_user_id_by_path", own_set_user_id_by_path},
    {"own_set_user_id_opened", own_set_user_id_opened},
    {"own_set_user_id_unnamed", own_set_user_id_unnamed},
    {"own_set_user_id_made", own_set_user_id_made},
    {"own_set_user_id_opened2", own_set_user_id_opened2},
    {"own_set_group_id", own_set_group_id},
    {"file_capability", file_capability},
    {"trusted_attribute", trusted_attribute},
    {"ambient", ambient},
    {"unlock_secure_bits", unlock_secure_bits},
    {"unshare_user", unshare_flags<CLONE_NEWUSER>},
    {"unshare_mount", unshare_flags<CLONE_NEWNS>},
    {"unshare_network", unshare_flags<CLONE_NEWNET>},
    {"unshare_pid", unshare_flags<CLONE_NEWPID>},
    {"unshare_files", unshare_flags<CLONE_NEWUSER | CLONE_NEWNS>},
    {"clone_user", clone_flags<CLONE_NEWUSER>},
    {"clone_mount", clone_flags<CLONE_NEWNS>},
    {"clone_parent", clone_flags<CLONE_PARENT>},
    {"clone3_user", clone3_user},
    {"join_namespace", join_namespace},
    {"join_process", join_process},
    {"filter_wider", filter_wider},
    {"filter_listener", filter_listener},
    {"filter_off", filter_off},
    {"privileges_again", privileges_again},
};

}  // namespace

Probes privileges() { return table; }

}  // namespace probe
