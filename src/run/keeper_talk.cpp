// SPDX-License-Identifier: Apache-2.0
#include "run/keeper_talk.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include <fmt/format.h>

#include "base/text.h"
#include "run/kept.h"
#include "run/spawn_failure.h"
#include "sys/files.h"

namespace harn::run {
namespace {

constexpr int patience_ms = 5000;  // for the kernel to end everybody of a session

}  // namespace

Error keeper_lost(std::string_view why, int error) {
  return {.code = ErrorCode::not_available,
          .stage = Stage::spawn,
          .os_error = error,
          .message = fmt::format("the session does not answer: {}", why),
          .hint = "'harn session gc' clears away what is left of it; then create it again"};
}

namespace {

Status send_with_fds(int connection, std::span<iovec> text, std::span<const int> fds) {
  alignas(cmsghdr) char control[CMSG_SPACE(keeper::most_fds * sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = text.data();
  message.msg_iovlen = text.size();
  if (fds.size() > keeper::most_fds)
    return fail(Error{.code = ErrorCode::internal, .stage = Stage::spawn, .message = "too many descriptors for one command"});
  if (!fds.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    auto* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(head), fds.data(), fds.size_bytes());
  }
  for (;;) {
    const auto sent = ::sendmsg(connection, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return fail(keeper_lost("it hung up", errno));
    // Descriptors went with the first byte.
    message.msg_control = nullptr;
    message.msg_controllen = 0;
    auto left = static_cast<std::size_t>(sent);
    while (message.msg_iovlen != 0 && left >= message.msg_iov->iov_len) {
      left -= message.msg_iov->iov_len;
      ++message.msg_iov;
      --message.msg_iovlen;
    }
    if (message.msg_iovlen == 0) return {};
    message.msg_iov->iov_base = static_cast<char*>(message.msg_iov->iov_base) + left;
    message.msg_iov->iov_len -= left;
  }
}

}  // namespace

Status send_order(int connection, const keeper::Order& order, std::span<const int> fds) {
  iovec text[] = {{.iov_base = const_cast<keeper::Order*>(&order), .iov_len = sizeof order}};
  return send_with_fds(connection, text, fds);
}

Status tell_who_answers(int connection) {
  const int on = 1;
  if (::setsockopt(connection, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0) return {};
  return fail(sys::os_failure("setsockopt", "SO_PASSCRED", errno, Stage::spawn));
}

Status send_letter(int connection, keeper::Order order, std::string_view letter, std::span<const int> fds) {
  if (letter.size() > keeper::longest_letter)
    return fail(Error{.code = ErrorCode::invalid_command,
                      .stage = Stage::spawn,
                      .os_error = E2BIG,
                      .message = "the command's arguments and environment are too long",
                      .hint = "pass them in a file or on standard input"});
  order.letter_bytes = static_cast<std::uint32_t>(letter.size());
  order.fds = static_cast<std::uint32_t>(fds.size());
  iovec text[] = {{.iov_base = &order, .iov_len = sizeof order}, {.iov_base = const_cast<char*>(letter.data()), .iov_len = letter.size()}};
  return send_with_fds(connection, text, fds);
}

Result<Answered> await_answer(int connection) {
  // Not by reading: whoever sleeps there is also woken when what he sent is read, and takes the command's processor for it.
  pollfd answered = {.fd = connection, .events = POLLIN, .revents = 0};
  while (::poll(&answered, 1, -1) < 0 && errno == EINTR) {
  }
  Answered out;
  iovec text = {.iov_base = &out.answer, .iov_len = sizeof out.answer};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))] = {};
  msghdr message = {};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got = -1;
  do got = ::recvmsg(connection, &message, MSG_WAITALL | MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof out.answer)) return fail(keeper_lost("it ended before it answered", got < 0 ? errno : 0));
  const auto* head = CMSG_FIRSTHDR(&message);
  if (head != nullptr && head->cmsg_type == SCM_CREDENTIALS) {
    ucred who = {};
    std::memcpy(&who, CMSG_DATA(head), sizeof who);
    out.holder = who.pid;
  }
  return out;
}

Result<Answered> ask_with_letter(int connection, keeper::Order order, std::string_view letter, std::span<const int> fds) {
  HARN_OK(tell_who_answers(connection));
  HARN_OK(send_letter(connection, order, letter, fds));
  return await_answer(connection);
}

Status judge(const keeper::Answer& answer, const Labels& labels) {
  const auto& report = answer.report;
  if (report.failed_step < 0) return {};
  const auto step = static_cast<std::size_t>(report.failed_step);
  const auto own = labels.before.size();
  if (report.error == EBADMSG && step == 0) return fail(keeper_lost("it did not understand what it was asked", EBADMSG));
  std::string label = "give up what the session's policy closes";
  if (step < own) label = labels.before[step];
  else if (step >= own + answer.template_steps && step - own - answer.template_steps < labels.after.size())
    label = labels.after[step - own - answer.template_steps];
  if (report.exec_attempted != 0) return fail(cannot_start(labels.command, report.error));
  Error error{.code = ErrorCode::os, .stage = Stage::spawn, .os_error = report.error};
  if (report.error == 0) {
    error.code = ErrorCode::refused;
    error.message = fmt::format("the boundary does not hold: could not {} (step {})", label, step + 1);
    error.hint = "the command did not run; please report this with the output of 'harn doctor --json'";
    return fail(std::move(error));
  }
  error.message = fmt::format("could not {}: {} (step {} in the session)", label, reason_of(report.error), step + 1);
  error.hint = "the command did not run";
  return fail(std::move(error));
}

Result<keeper::State> ask_keeper(const AbsPath& directory, keeper::Kind order) {
  HARN_TRY(connection, connect_in(directory));
  HARN_OK(send_order(connection.get(), {.kind = order}, {}));
  keeper::State state;
  ssize_t got = -1;
  do got = ::recv(connection.get(), &state, sizeof state, MSG_WAITALL);
  while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof state) || state.magic != keeper::magic)
    return fail(keeper_lost("it ended before it answered", got < 0 ? errno : 0));
  return state;
}

Status end_keeper(const AbsPath& directory, pid_t pid) {
  // Held before it is asked: afterwards the number could be somebody else's.
  const sys::UniqueFd life(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  HARN_TRY(connection, connect_in(directory));
  HARN_OK(send_order(connection.get(), {.kind = keeper::Kind::end}, {}));
  if (!life) return {};
  pollfd gone = {.fd = life.get(), .events = POLLIN, .revents = 0};
  if (::poll(&gone, 1, patience_ms) == 1) return {};
  ::syscall(SYS_pidfd_send_signal, life.get(), SIGKILL, nullptr, 0);
  if (::poll(&gone, 1, patience_ms) == 1) return {};
  return fail(Error{.code = ErrorCode::os,
                    .stage = Stage::supervise,
                    .os_error = ETIMEDOUT,
                    .message = fmt::format("the session's processes could not be ended: its keeper is process {}", pid),
                    .hint = "one of them waits for a device or a file system; try again"});
}

Result<KeptNamespaces> namespaces_in(const AbsPath& directory) {
  HARN_TRY(connection, connect_in(directory));
  HARN_OK(send_order(connection.get(), {.kind = keeper::Kind::namespaces}, {}));
  keeper::Order order;
  iovec text = {.iov_base = &order, .iov_len = sizeof order};
  alignas(cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const auto got = ::recvmsg(connection.get(), &message, MSG_WAITALL | MSG_CMSG_CLOEXEC);
  const auto* head = CMSG_FIRSTHDR(&message);
  if (got != static_cast<ssize_t>(sizeof order) || head == nullptr || head->cmsg_type != SCM_RIGHTS)
    return fail(keeper_lost("it ended before it answered", got < 0 ? errno : 0));
  int fds[4] = {-1, -1, -1, -1};
  std::memcpy(fds, CMSG_DATA(head), std::min<std::size_t>(head->cmsg_len - CMSG_LEN(0), sizeof fds));
  return KeptNamespaces{
      .user = sys::UniqueFd(fds[0]), .mount = sys::UniqueFd(fds[1]), .network = sys::UniqueFd(fds[2]), .ruleset = sys::UniqueFd(fds[3])};
}

}  // namespace harn::run
