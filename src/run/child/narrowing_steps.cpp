// SPDX-License-Identifier: Apache-2.0
// Giving up rights, one kind after the other, and the proof that they are gone.
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "run/child/close_on_exec.h"
#include "run/child/replay.h"
#include "sys/uapi/landlock.h"

namespace harn::run::child {
namespace {

namespace uapi = sys::uapi;

struct KernelLimit {
  std::uint64_t soft = 0;
  std::uint64_t hard = 0;
};

Word set_limit(const Step& step) {
  const KernelLimit limit = {.soft = step.mask, .hard = step.more};
  return raw_syscall(SYS_prlimit64, 0, step.number, word_of(&limit), 0);
}

// Without CAP_SETPCAP the bounding set cannot shrink; no_new_privileges keeps it out of reach then.
Word drop_bounding(int highest) {
  for (Word capability = 0; capability <= highest; ++capability) {
    const Word result = raw_syscall(SYS_prctl, PR_CAPBSET_DROP, capability);
    if (result == -EPERM) return 0;
    if (result == -EINVAL) break;  // one past the kernel's last
    if (result < 0) return result;
  }
  constexpr Word locked = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |
                          SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
  return raw_syscall(SYS_prctl, PR_SET_SECUREBITS, locked);
}

Word drop_capabilities(int highest) {
  const Word result = drop_bounding(highest);
  if (result < 0) return result;
  const Word ambient = raw_syscall(SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL);
  if (ambient < 0) return ambient;
  const __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  const __user_cap_data_struct none[2] = {};
  return raw_syscall(SYS_capset, word_of(&header), word_of(none));
}

// Links are part of the path here: a place of our own is never one.
Word landlock_rule(const Step& step) {
  const Word fd = raw_syscall(SYS_openat, AT_FDCWD, word_of(step.text), O_PATH | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return fd;
  const uapi::LandlockPathBeneathAttr rule = {.allowed_access = step.mask, .parent_fd = static_cast<std::int32_t>(fd)};
  const Word result = raw_syscall(uapi::landlock_add_rule_number, step.number, uapi::landlock_rule_path_beneath, word_of(&rule), 0);
  raw_syscall(SYS_close, fd);
  return result;
}

constexpr Word reached = 1;

// Refused by the boundary, not by a shortage.
Word refused(Word result) {
  if (result >= 0) {
    raw_syscall(SYS_close, result);
    return reached;
  }
  const bool shortage = result == -EMFILE || result == -ENFILE || result == -ENOMEM || result == -EINTR || result == -EINVAL;
  return shortage ? result : 0;
}

// Descriptors the calls answer with are left open: the process ends when nothing is refused.
Word refused_calls(const Step& step) {
  const auto* calls = static_cast<const Call*>(step.pointer);
  Word first = 0;
  for (std::uint64_t i = 0; i < step.mask; ++i) {
    const auto argument = [&](int index) {
      const auto value = calls[i].arguments[index];
      return value == first_answer ? first : static_cast<Word>(value);
    };
    const Word answer = raw_syscall(calls[i].number, argument(0), argument(1), argument(2), argument(3), argument(4));
    if (answer < 0) return 0;
    if (i == 0) first = answer;
  }
  return reached;
}

}  // namespace

Word narrow(const Step& step) noexcept {
  switch (step.op) {
    case Op::change_directory: return raw_syscall(SYS_chdir, word_of(step.text));
    case Op::set_limit: return set_limit(step);
    case Op::drop_capabilities: return drop_capabilities(step.number);
    case Op::no_new_privileges: return raw_syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1);
    case Op::landlock_rule: return landlock_rule(step);
    case Op::landlock_enforce: return raw_syscall(uapi::landlock_restrict_self_number, step.number, static_cast<Word>(step.mask));
    case Op::close_others: return close_on_exec_from(step.number);
    case Op::keep_fd: return raw_syscall(SYS_fcntl, step.number, F_SETFD, 0);
    case Op::syscall_filter: return raw_syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, static_cast<Word>(step.mask), word_of(step.pointer));
    default: return -EINVAL;
  }
}

Word prove(const Step& step) noexcept {
  switch (step.op) {
    case Op::refuse_open: return refused(raw_syscall(SYS_openat, AT_FDCWD, word_of(step.text), static_cast<Word>(step.mask)));
    case Op::refuse_open_at: return refused(raw_syscall(SYS_openat, step.number, word_of(step.text), static_cast<Word>(step.mask)));
    case Op::refuse_socket: return refused(raw_syscall(SYS_socket, step.number, static_cast<Word>(step.mask), 0));
    case Op::refuse_signal: return raw_syscall(SYS_kill, step.number, 0) >= 0 ? reached : 0;
    case Op::refuse_calls: return refused_calls(step);
    default: return -EINVAL;
  }
}

}  // namespace harn::run::child
