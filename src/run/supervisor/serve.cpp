// SPDX-License-Identifier: Apache-2.0
#include "run/supervisor/serve.h"

#include <fcntl.h>
#include <sys/ioctl.h>

namespace harn::run::supervisor {

void Server::send_count(const seccomp_notif& call, Word value) const {
  const seccomp_notif_resp response = {.id = call.id, .val = value, .error = 0, .flags = 0};
  raw_syscall(SYS_ioctl, listener_, SECCOMP_IOCTL_NOTIF_SEND, word_of(&response));
}

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
  if (answer.alone) send_count(call, result);
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
  if (reads_go_on_ && can_read(caller, call.data)) {
    let_go_on(call);
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
                  .reach = reach_,
                  .umasks = umasks_,
                  .kept = static_cast<Fd&&>(kept),
                  .decides = orders_.duties.decides != 0,
                  .trace = tells ? &trace_ : nullptr,
                  .guests = asks()};
  Answer answer = perform(request, call.data);
  if (asks() && answer.value < 0 && ask_about_path(caller, call, answer.value)) return true;
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
  else if (answer.counts) send_count(call, answer.value);
  else send(call, answer.value);
  return true;
}

void Server::hold_sockets() {
  for (auto rest = orders_.sockets; !rest.empty();) {
    const auto end = rest.find('\0');
    const auto path = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (end == std::string_view::npos || rules_.at(path) != Allowed::changing || !bound_.has_room()) continue;
    Fd socket(raw_syscall(SYS_openat, AT_FDCWD, word_of(path.data()), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (socket) bound_.add(static_cast<Fd&&>(socket));
  }
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
