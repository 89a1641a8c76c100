// SPDX-License-Identifier: Apache-2.0
// Calls that wait for the operator's word. Nobody else waits meanwhile: the call is put aside, and the answer comes as a
// message. What is granted comes as a descriptor from outside; neither this program nor the layers around the command
// open anything more than before.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "run/init/parcel.h"
#include "run/supervisor/serve.h"

namespace harn::run::supervisor {
namespace {

// Whoever asks for more than reading about a file is told what it would be told without a question.
constexpr unsigned more_than_reading = 2 | 1;  // W_OK, X_OK

bool is_open(const seccomp_data& call) {
#if defined(SYS_open)
  if (call.nr == SYS_open || call.nr == SYS_creat) return true;
#endif
  return call.nr == SYS_openat;
}

bool closes_on_exec(const seccomp_data& call) {
#if defined(SYS_open)
  if (call.nr == SYS_creat) return false;
  if (call.nr == SYS_open) return (call.args[1] & O_CLOEXEC) != 0;
#endif
  return (call.args[2] & O_CLOEXEC) != 0;
}

bool is_local_stream(const Caller& caller, int descriptor) {
  Fd socket;
  if (caller.copy(descriptor, socket) < 0) return false;
  int family = 0;
  int type = 0;
  unsigned size = sizeof family;
  if (raw_syscall(SYS_getsockopt, socket.get(), SOL_SOCKET, SO_DOMAIN, word_of(&family), word_of(&size)) < 0) return false;
  if (raw_syscall(SYS_getsockopt, socket.get(), SOL_SOCKET, SO_TYPE, word_of(&type), word_of(&size)) < 0) return false;
  return family == AF_UNIX && type == SOCK_STREAM;
}

// What a question about a name can answer: is it there, may it be read, what is it.
bool can_be_answered(const seccomp_data& call) {
  switch (call.nr) {
    case SYS_newfstatat:
    case SYS_statx: return true;
    case SYS_faccessat:
    case 439: return (call.args[2] & more_than_reading) == 0;  // faccessat2
#if defined(SYS_open)
    case SYS_stat:
    case SYS_lstat: return true;
    case SYS_access: return (call.args[1] & more_than_reading) == 0;
#endif
    default: return false;
  }
}

Word answer_about(const Caller& caller, const seccomp_data& call, int file) {
  const auto plain = [&](std::uint64_t into) -> Word {
    struct stat status = {};
    const Word result = raw_syscall(SYS_newfstatat, file, word_of(""), word_of(&status), AT_EMPTY_PATH);
    return result < 0 ? result : caller.write(into, &status, sizeof status);
  };
  switch (call.nr) {
    case SYS_newfstatat: return plain(call.args[2]);
    case SYS_statx: {
      alignas(8) char status[256] = {};  // struct statx, as large as the kernel fixed it
      const Word result = raw_syscall(SYS_statx, file, word_of(""), AT_EMPTY_PATH, static_cast<Word>(call.args[3]), word_of(status));
      return result < 0 ? result : caller.write(call.args[4], status, sizeof status);
    }
#if defined(SYS_open)
    case SYS_stat:
    case SYS_lstat: return plain(call.args[1]);
#endif
    default: return 0;
  }
}

}  // namespace

bool Server::ask(const Caller& caller, const seccomp_notif& call, Wanted wanted, std::string_view path, Word error, bool goes_on) {
  if (asked_count_ == most_asked) return false;
  if (wanted == Wanted::finding && !can_be_answered(call.data)) return false;
  if (wanted == Wanted::reaching && !is_local_stream(caller, static_cast<int>(call.data.args[0]))) return false;
  if (!teller_.ask(caller, call, wanted, path, error)) return false;
  asked_[asked_count_++] = {.call = call, .wanted = wanted, .error = error, .goes_on = goes_on};
  return true;
}

bool Server::ask_about_path(const Caller& caller, const seccomp_notif& call, Word error) {
  if ((!is_open(call.data) && call.data.nr != SYS_connect) || trace_.count != 1 || !teller_.concerns(trace_.paths[0].view(), error))
    return false;
  return ask(caller, call, wanted_of_call(call.data, 0, trace_.there[0]), trace_.paths[0].view(), error, /*goes_on=*/false);
}

void Server::settle(const Asked& asked, bool allowed, Fd given) {
  const auto& call = asked.call;
  if (!allowed || !given) return asked.goes_on ? let_go_on(call) : send(call, asked.error);
  const Caller caller(listener_, call.id, call.pid);
  if (asked.wanted == Wanted::finding) return send(call, answer_about(caller, call.data, given.get()));
  if (asked.wanted == Wanted::reaching) {
    // In place of the caller's own, which could not be connected.
    seccomp_notif_addfd put = {.id = call.id,
                               .flags = SECCOMP_ADDFD_FLAG_SETFD,
                               .srcfd = static_cast<unsigned>(given.get()),
                               .newfd = static_cast<unsigned>(call.data.args[0]),
                               .newfd_flags = O_CLOEXEC};
    const Word result = raw_syscall(SYS_ioctl, listener_, SECCOMP_IOCTL_NOTIF_ADDFD, word_of(&put));
    return send(call, result < 0 ? refuse() : 0);
  }
  Answer answer{.descriptor = static_cast<Fd&&>(given), .on_exec = closes_on_exec(call.data), .alone = true};
  send_descriptor(call, answer);
}

void Server::take_verdict() {
  init::Parcel<Verdict, 1> sent;
  const Word got = init::receive_parcel(tell_fd, sent, MSG_DONTWAIT);
  Fd given = sent.count == 1 ? Fd(sent.fds[0]) : Fd();
  const Verdict& verdict = sent.value;
  if (got != sizeof verdict) return;
  for (int i = 0; i < asked_count_; ++i) {
    if (asked_[i].call.id != verdict.question) continue;
    const Asked asked = asked_[i];
    drop_asked(i);
    return settle(asked, verdict.allowed != 0, static_cast<Fd&&>(given));
  }
}

void Server::look_after_asked() {
  for (int i = 0; i < asked_count_;) {
    const auto& call = asked_[i].call;
    if (Caller(listener_, call.id, call.pid).waits()) {
      ++i;
      continue;
    }
    Teller::withdraw(call.id);
    drop_asked(i);
  }
}

}  // namespace harn::run::supervisor
