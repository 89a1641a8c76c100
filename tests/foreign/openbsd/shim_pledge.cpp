// SPDX-License-Identifier: Apache-2.0
// Which calls belong to which promise, as kern_pledge.c has it, and a filter that refuses those of every promise that is
// missing. What belongs to none is always allowed, except what no promise ever gives.
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <optional>

#include "foreign/openbsd/shim.h"

namespace harn::shim {
namespace {

struct Call {
  const char* promise;  // nullptr = no promise gives it
  const char* name;
};

constexpr Call calls[] = {
    {"cpath", "creat"},
    {"cpath", "mkdir"},
    {"cpath", "mkdirat"},
    {"cpath", "rmdir"},
    {"cpath", "unlink"},
    {"cpath", "unlinkat"},
    {"cpath", "rename"},
    {"cpath", "renameat"},
    {"cpath", "renameat2"},
    {"cpath", "link"},
    {"cpath", "linkat"},
    {"cpath", "symlink"},
    {"cpath", "symlinkat"},
    {"dpath", "mknod"},
    {"dpath", "mknodat"},
    {"fattr", "chmod"},
    {"fattr", "fchmod"},
    {"fattr", "fchmodat"},
    {"fattr", "utime"},
    {"fattr", "utimes"},
    {"fattr", "utimensat"},
    {"chown", "chown"},
    {"chown", "fchown"},
    {"chown", "lchown"},
    {"chown", "fchownat"},
    {"flock", "flock"},
    {"proc", "fork"},
    {"proc", "vfork"},
    {"proc", "setpgid"},
    {"proc", "setsid"},
    {"proc", "setpriority"},
    {"exec", "execve"},
    {"exec", "execveat"},
    {"id", "setuid"},
    {"id", "setgid"},
    {"id", "setresuid"},
    {"id", "setresgid"},
    {"id", "setgroups"},
    {"id", "setreuid"},
    {nullptr, "ptrace"},
    {nullptr, "mount"},
    {nullptr, "umount2"},
    {nullptr, "reboot"},
    {nullptr, "chroot"},
    {nullptr, "pivot_root"},
    {nullptr, "unshare"},
    {nullptr, "setns"},
    {nullptr, "bpf"},
    {nullptr, "keyctl"},
    {nullptr, "io_uring_setup"},
    {nullptr, "openat2"},
    {nullptr, "process_vm_readv"},
    {nullptr, "process_vm_writev"},
    {nullptr, "open_tree"},
    {nullptr, "move_mount"},
    {nullptr, "fsopen"},
    {nullptr, "fsmount"},
    {nullptr, "mount_setattr"},
    {nullptr, "umount"},
    {nullptr, "init_module"},
};

void abort_for_good(int) {
  ::signal(SIGABRT, SIG_DFL);
  ::abort();
}

class Filter {
 public:
  explicit Filter(const std::set<std::string>& promises)
      : promises_(promises),
        refusal_(promises.contains("error") ? SCMP_ACT_ERRNO(ENOSYS) : SCMP_ACT_TRAP),
        context_(::seccomp_init(SCMP_ACT_ALLOW)) {}
  ~Filter() { ::seccomp_release(context_); }

  int install() {
    for (const auto& call : calls)
      if (call.promise == nullptr || !promises_.contains(call.promise)) refuse(call.name, {});
    sockets();
    opens();
    if (!promises_.contains("proc")) refuse("clone", SCMP_A0_64(SCMP_CMP_MASKED_EQ, 0x00010000, 0));  // not a thread
    if (!promises_.contains("prot_exec")) {
      refuse("mprotect", SCMP_A2_64(SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC));
    }
    return error_ != 0 ? error_ : -::seccomp_load(context_);
  }

 private:
  void sockets() {
    if (!promises_.contains("inet"))
      for (const auto family : {AF_INET, AF_INET6}) refuse("socket", SCMP_A0_64(SCMP_CMP_EQ, static_cast<scmp_datum_t>(family)));
    if (!promises_.contains("unix")) refuse("socket", SCMP_A0_64(SCMP_CMP_EQ, AF_UNIX));
    for (const auto family : {AF_NETLINK, AF_PACKET, AF_VSOCK})
      refuse("socket", SCMP_A0_64(SCMP_CMP_EQ, static_cast<scmp_datum_t>(family)));
  }

  // A promise is about how a file is opened, not whether.
  void opens() {
    const auto flag = [&](std::string_view promise, scmp_datum_t mask, scmp_datum_t value) {
      if (promises_.contains(std::string(promise))) return;
      refuse("open", SCMP_A1_64(SCMP_CMP_MASKED_EQ, mask, value));
      refuse("openat", SCMP_A2_64(SCMP_CMP_MASKED_EQ, mask, value));
    };
    flag("rpath", O_ACCMODE, O_RDONLY);
    flag("wpath", O_ACCMODE, O_WRONLY);
    flag("wpath", O_ACCMODE, O_RDWR);
    flag("cpath", O_CREAT, O_CREAT);
  }

  void refuse(const char* name, std::optional<scmp_arg_cmp> when) {
    const int number = ::seccomp_syscall_resolve_name(name);
    if (number == __NR_SCMP_ERROR) return;  // this kernel has no such call
    const int result = when ? ::seccomp_rule_add(context_, refusal_, number, 1, *when) : ::seccomp_rule_add(context_, refusal_, number, 0);
    if (result != 0 && result != -EEXIST && error_ == 0) error_ = -result;
  }

  const std::set<std::string>& promises_;
  std::uint32_t refusal_;
  scmp_filter_ctx context_;
  int error_ = 0;
};

}  // namespace

int keep_to(const std::set<std::string>& promises) {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  struct sigaction ending = {};
  ending.sa_handler = abort_for_good;
  ::sigaction(SIGSYS, &ending, nullptr);
  return Filter(promises).install();
}

}  // namespace harn::shim
