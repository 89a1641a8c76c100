// SPDX-License-Identifier: Apache-2.0
#include "run/supervisor/serve.h"

#include <fcntl.h>
#include <sys/ioctl.h>

namespace harn::run::supervisor {
namespace {

// Trapped by a filter that asks for more than this program knows, or refuses it.
constexpr Word unknown_call = -EPERM;

Word in_place(const Request& request, const seccomp_data& call);

// One row per call: arguments as the kernel declares them, int where it says int.
Answer perform(Request& request, const seccomp_data& call) {
  const auto number = [&](int index) { return static_cast<int>(call.args[index]); };
  const auto bits = [&](int index) { return static_cast<unsigned>(call.args[index]); };
  switch (call.nr) {
#if defined(SYS_open)
    case SYS_open: return open(request, {AT_FDCWD, call.args[0]}, bits(1), bits(2));
    case SYS_creat: return open(request, {AT_FDCWD, call.args[0]}, O_CREAT | O_WRONLY | O_TRUNC, bits(1));
#endif
    case SYS_openat: return open(request, {number(0), call.args[1]}, bits(2), bits(3));
    default: return {.value = in_place(request, call)};
  }
}

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
    case SYS_truncate: return truncate(request, here(0), static_cast<Word>(args[1]));
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

void Server::send(const seccomp_notif& call, Word value) const {
  // Success of these calls is 0; anything but a plain error is taken for a refusal.
  const bool error = value < 0 && value >= -4095;
  const seccomp_notif_resp response = {.id = call.id,
                                       .val = 0,
                                       .error = static_cast<int>(value == 0 ? 0
                                                                 : error    ? value
                                                                            : refuse()),
                                       .flags = 0};
  raw_syscall(SYS_ioctl, listener_, SECCOMP_IOCTL_NOTIF_SEND, word_of(&response));
}

// A file open for writing must be the caller's alone before it goes on: it may close it and start it as a
// program at once, and a copy of ours would still be in the way. So it is handed over, closed here, and answered.
void Server::send_descriptor(const seccomp_notif& call, Answer& answer) const {
  const seccomp_notif_addfd given = {.id = call.id,
                                     .flags = answer.alone ? 0u : static_cast<unsigned>(SECCOMP_ADDFD_FLAG_SEND),
                                     .srcfd = static_cast<unsigned>(answer.descriptor.get()),
                                     .newfd = 0,
                                     .newfd_flags = answer.on_exec ? static_cast<unsigned>(O_CLOEXEC) : 0};
  const Word result = raw_syscall(SYS_ioctl, listener_, SECCOMP_IOCTL_NOTIF_ADDFD, word_of(&given));
  answer.descriptor = Fd();
  if (result < 0) return send(call, result == -ENOENT ? refuse() : result);
  if (!answer.alone) return;
  const seccomp_notif_resp response = {.id = call.id, .val = result, .error = 0, .flags = 0};
  raw_syscall(SYS_ioctl, listener_, SECCOMP_IOCTL_NOTIF_SEND, word_of(&response));
}

// Only for calls that the filter would allow without us, and where we decide nothing about them: whoever rewrites the
// arguments now gains nothing.
void Server::let_go_on(const seccomp_notif& call) const {
  const seccomp_notif_resp response = {.id = call.id, .val = 0, .error = 0, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
  raw_syscall(SYS_ioctl, listener_, SECCOMP_IOCTL_NOTIF_SEND, word_of(&response));
}

bool Server::answer_without_acting(const Caller& caller, const seccomp_notif& call) {
  const auto number = static_cast<std::uint32_t>(call.data.nr);
  if (const auto* refused = orders_.refusal_of(number)) {
    if (orders_.duties.tells != 0) teller_.tell(caller, call.data, Wanted::calling, {}, -refused->error);
    send(call, -refused->error);
    return true;
  }
  if (!orders_.looks_at(number)) return false;
  finding_.wanted = Wanted::calling;
  look({.caller = caller, .call = call.data, .rules = rules_, .teller = teller_, .found = asks() ? &finding_ : nullptr});
  if (finding_.wanted == Wanted::calling || !ask(caller, call, finding_.wanted, finding_.path.view(), finding_.error, /*goes_on=*/true))
    let_go_on(call);
  return true;
}

bool Server::answer(const seccomp_notif& call, Fd& kept) {
  const Caller caller(listener_, call.id, call.pid);
  if (answer_without_acting(caller, call)) return true;
  const bool tells = orders_.duties.tells != 0;
  trace_.clear();
  Request request{.caller = caller,
                  .rules = rules_,
                  .kept = static_cast<Fd&&>(kept),
                  .decides = orders_.duties.decides != 0,
                  .trace = tells ? &trace_ : nullptr,
                  .guests = asks()};
  Answer answer = perform(request, call.data);
  if (asks() && answer.value < 0 && ask_about_open(caller, call, answer.value)) return true;
  if (tells && answer.value < 0) {
    if (trace_.count == 0 && answer.value == unknown_call) teller_.tell(caller, call.data, Wanted::calling, {}, answer.value);
    else teller_.tell_paths(caller, call.data, trace_, answer.value);
  } else if (!answer.later) {
    teller_.record_paths(caller, call.data, trace_);
  }
  if (answer.go_on) {
    let_go_on(call);
    return true;
  }
  if (answer.later) {
    kept = static_cast<Fd&&>(answer.descriptor);
    return false;
  }
  if (answer.descriptor) send_descriptor(call, answer);
  else send(call, answer.value);
  return true;
}

void Server::serve() {
  seccomp_notif call = {};
  if (raw_syscall(SYS_ioctl, listener_, SECCOMP_IOCTL_NOTIF_RECV, word_of(&call)) < 0) return;
  Fd kept;
  if (answer(call, kept)) return;
  if (waiting_count_ == most_waiting) return send(call, -EAGAIN);
  waiting_[waiting_count_].call = call;
  waiting_[waiting_count_].kept = static_cast<Fd&&>(kept);
  ++waiting_count_;
}

void Server::serve_waiting() {
  for (int i = 0; i < waiting_count_;) {
    auto& one = waiting_[i];
    const bool gone = !Caller(listener_, one.call.id, one.call.pid).waits();
    if (!gone && !answer(one.call, one.kept)) {
      ++i;
      continue;
    }
    one.kept = Fd();
    if (i != --waiting_count_) {
      one.call = waiting_[waiting_count_].call;
      one.kept = static_cast<Fd&&>(waiting_[waiting_count_].kept);
    }
  }
}

}  // namespace harn::run::supervisor
