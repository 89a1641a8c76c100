// SPDX-License-Identifier: Apache-2.0
// From numbers in registers to one of the calls.
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>

#include "run/supervisor/calls.h"

namespace harn::run::supervisor {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t native_architecture = AUDIT_ARCH_X86_64;
#else
constexpr std::uint32_t native_architecture = AUDIT_ARCH_AARCH64;
#endif

// AT_EMPTY_PATH, where the path is empty, means the descriptor itself.
Word aimed(const Request& request, const At& at, unsigned flags, Target& target) {
  if ((flags & ~static_cast<unsigned>(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)) != 0) return -EINVAL;
  target = {.at = at, .last = (flags & AT_SYMLINK_NOFOLLOW) != 0 ? Last::keep : Last::follow};
  if ((flags & AT_EMPTY_PATH) == 0 || at.start == AT_FDCWD) return 0;
  char first = 0;
  if (const Word result = request.caller.read(at.path, &first, 1); result < 0) return result;
  target.descriptor = first == '\0';
  return 0;
}

Word in_place(const Request& request, const seccomp_data& call) {
  const auto* args = call.args;
  const auto number = [&](int index) { return static_cast<int>(args[index]); };
  const auto bits = [&](int index) { return static_cast<unsigned>(args[index]); };
  const auto here = [&](int index) { return At{AT_FDCWD, args[index]}; };
  const auto at = [&](int index) { return At{number(index), args[index + 1]}; };
  const auto path = [&](Last last) { return Target{.at = here(0), .last = last}; };
  const Target held{.at = {.start = number(0)}, .descriptor = true};
  Target target;
  const auto value = [&] { return Attribute{args[1], args[2], args[3], bits(4)}; };
  switch (call.nr) {
    case SYS_mkdirat: return make_directory(request, at(0), bits(2));
    case SYS_mknodat: return make_node(request, at(0), bits(2));
    case SYS_symlinkat: return make_link(request, args[0], at(1));
    case SYS_linkat: return make_hard_link(request, at(0), at(2), bits(4));
    case SYS_unlinkat: return remove(request, at(0), bits(2));
#if defined(SYS_renameat)
    case SYS_renameat: return rename(request, at(0), at(2), 0);
#endif
    case SYS_renameat2: return rename(request, at(0), at(2), bits(4));
    case SYS_fchmod: return change_mode(request, held, bits(1));
    case SYS_fchmodat: return change_mode(request, {.at = at(0)}, bits(2));
    case 452:  // fchmodat2, Linux 6.6
      if (const Word result = aimed(request, at(0), bits(3), target); result < 0) return result;
      return change_mode(request, target, bits(2));
    case SYS_fchown: return change_owner(request, held, bits(1), bits(2));
    case SYS_fchownat:
      if (const Word result = aimed(request, at(0), bits(4), target); result < 0) return result;
      return change_owner(request, target, bits(2), bits(3));
    case SYS_utimensat:
      if (args[1] == 0) return change_times(request, held, args[2], Times::timespecs);
      if (const Word result = aimed(request, at(0), bits(3), target); result < 0) return result;
      return change_times(request, target, args[2], Times::timespecs);
    case SYS_setxattr: return set_attribute(request, path(Last::follow), value());
    case SYS_lsetxattr: return set_attribute(request, path(Last::keep), value());
    case SYS_fsetxattr: return set_attribute(request, held, value());
    case SYS_removexattr: return remove_attribute(request, path(Last::follow), args[1]);
    case SYS_lremovexattr: return remove_attribute(request, path(Last::keep), args[1]);
    case SYS_fremovexattr: return remove_attribute(request, held, args[1]);
    case SYS_kill:
    case SYS_tkill:
    case SYS_tgkill:
    case SYS_rt_sigqueueinfo:
    case SYS_rt_tgsigqueueinfo:
    case SYS_pidfd_send_signal: return send_signal(request, call);
    case SYS_fcntl: return set_owner(request, number(0), number(1), args[2]);
    case SYS_ioctl: return change_flags(request, number(0), bits(1), args[2]);
#if defined(SYS_open)
    case SYS_mkdir: return make_directory(request, here(0), bits(1));
    case SYS_mknod: return make_node(request, here(0), bits(1));
    case SYS_symlink: return make_link(request, args[0], here(1));
    case SYS_link: return make_hard_link(request, here(0), here(1), 0);
    case SYS_unlink: return remove(request, here(0), 0);
    case SYS_rmdir: return remove(request, here(0), AT_REMOVEDIR);
    case SYS_rename: return rename(request, here(0), here(1), 0);
    case SYS_chmod: return change_mode(request, path(Last::follow), bits(1));
    case SYS_chown: return change_owner(request, path(Last::follow), bits(1), bits(2));
    case SYS_lchown: return change_owner(request, path(Last::keep), bits(1), bits(2));
    case SYS_utime: return change_times(request, path(Last::follow), args[1], Times::utimbuf);
    case SYS_utimes: return change_times(request, path(Last::follow), args[1], Times::timevals);
    case SYS_futimesat: return change_times(request, args[1] == 0 ? held : Target{.at = at(0)}, args[2], Times::timevals);
#endif
    default: return unknown_call;
  }
}

}  // namespace

// One row per call: arguments as the kernel declares them, int where it says int.
Answer perform(Request& request, const seccomp_data& call) {
  const auto number = [&](int index) { return static_cast<int>(call.args[index]); };
  const auto bits = [&](int index) { return static_cast<unsigned>(call.args[index]); };
  // Numbers and structures of another architecture mean something else; the filter lets none of them come here.
  if (call.arch != native_architecture) return {.value = -ENOSYS};
  switch (call.nr) {
#if defined(SYS_open)
    case SYS_open: return open(request, {AT_FDCWD, call.args[0]}, bits(1), bits(2));
    case SYS_creat: return open(request, {AT_FDCWD, call.args[0]}, O_CREAT | O_WRONLY | O_TRUNC, bits(1));
#endif
    case SYS_openat: return open(request, {number(0), call.args[1]}, bits(2), bits(3));
    case SYS_connect: return connect(request, number(0), call.args[1], bits(2));
    case SYS_truncate: {
      const Word result = truncate(request, {AT_FDCWD, call.args[0]}, static_cast<Word>(call.args[1]));
      return {.value = result, .later = result == -EAGAIN};
    }
    case SYS_setsockopt: return {.value = share_no_port(request, number(0))};
    case SYS_listen: return {.value = listen(request, number(0), number(1))};
    case SYS_bind: return {.value = bind(request, number(0), call.args[1], bits(2))};
    case SYS_sendto:
      return send_to(request, {.descriptor = number(0),
                               .text = call.args[1],
                               .size = call.args[2],
                               .flags = bits(3),
                               .address = call.args[4],
                               .address_size = bits(5)});
    case SYS_umask: request.umasks.changes(request.caller); return {.go_on = true};
    case SYS_sendmsg: return send_message(request, number(0), call.args[1], bits(2));
    case SYS_sendmmsg: return send_messages(request, number(0), call.args[1], bits(2), bits(3));
    default: return {.value = in_place(request, call)};
  }
}

}  // namespace harn::run::supervisor
