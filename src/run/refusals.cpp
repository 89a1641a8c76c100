// SPDX-License-Identifier: Apache-2.0
#include "run/refusals.h"

#include <errno.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "plan/syscalls/syscall_tables.h"
#include "run/supervisor/protocol.h"

namespace harn::run {
namespace {

constexpr std::size_t largest = sizeof(supervisor::Refusal) + 4096 + supervisor::most_processes * sizeof(supervisor::ProcessRow);

#if defined(__x86_64__)
constexpr std::string_view own_architecture = "x86_64";
#else
constexpr std::string_view own_architecture = "aarch64";
#endif

static_assert(static_cast<int>(Wanted::calling) == static_cast<int>(supervisor::Wanted::calling));

std::string name_of(const supervisor::ProcessRow& row) {
  return fmt::format("{}[{}]", std::string_view(row.name, ::strnlen(row.name, sizeof row.name)), row.id);
}

// The supervisor is ours, but it is spoken to by the command: nothing is read past what came.
std::optional<Refused> parse(std::string_view bytes) {
  supervisor::Refusal head;
  if (bytes.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, bytes.data(), sizeof head);
  bytes.remove_prefix(sizeof head);
  const auto rows = head.processes * sizeof(supervisor::ProcessRow);
  if (bytes.size() != head.text_size + rows || head.wanted > supervisor::Wanted::calling) return std::nullopt;
  Refused out{.call = std::string(plan::syscall_name(head.number, *plan::find_architecture(own_architecture))),
              .wanted = static_cast<Wanted>(head.wanted),
              .target = std::string(bytes.substr(0, head.text_size)),
              .error = head.error == supervisor::worked ? 0 : head.error,
              .worked = head.error == supervisor::worked};
  out.question = head.question;
  out.gone = head.error == supervisor::withdrawn;
  std::ranges::copy(head.arguments, out.arguments.begin());
  bytes.remove_prefix(head.text_size);
  for (; !bytes.empty(); bytes.remove_prefix(sizeof(supervisor::ProcessRow))) {
    supervisor::ProcessRow row;
    std::memcpy(&row, bytes.data(), sizeof row);
    out.processes.insert(out.processes.begin(), name_of(row));
  }
  return out;
}

// A supervisor that is gone needs no answer.
void answer(int fd, std::uint64_t question, int descriptor) {
  supervisor::Verdict verdict{.question = question, .allowed = descriptor >= 0 ? 1u : 0u};
  iovec text = {.iov_base = &verdict, .iov_len = sizeof verdict};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    auto* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
  }
  while (::sendmsg(fd, &message, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

}  // namespace

bool hand_on_refusals(int fd, const RefusalSinks& sinks, int most) {
  char buffer[largest];
  for (int i = 0; i < most; ++i) {
    const ssize_t got = ::recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    const auto refused = parse({buffer, static_cast<std::size_t>(got)});
    if (!refused) continue;
    const auto question = refused->question;
    if (question == 0 && sinks.refusal) sinks.refusal(*refused);
    else if (question != 0 && sinks.question)
      sinks.question(*refused, [fd, question](bool allowed, int descriptor) { answer(fd, question, allowed ? descriptor : -1); });
    else if (question != 0) answer(fd, question, -1);
  }
  return true;
}

}  // namespace harn::run
