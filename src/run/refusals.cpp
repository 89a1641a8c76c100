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
  std::ranges::copy(head.arguments, out.arguments.begin());
  bytes.remove_prefix(head.text_size);
  for (; !bytes.empty(); bytes.remove_prefix(sizeof(supervisor::ProcessRow))) {
    supervisor::ProcessRow row;
    std::memcpy(&row, bytes.data(), sizeof row);
    out.processes.insert(out.processes.begin(), name_of(row));
  }
  return out;
}

}  // namespace

bool hand_on_refusals(int fd, const RefusalSink& sink, int most) {
  char buffer[largest];
  for (int i = 0; i < most; ++i) {
    const ssize_t got = ::recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    const auto refused = parse({buffer, static_cast<std::size_t>(got)});
    if (refused && sink) sink(*refused);
  }
  return true;
}

}  // namespace harn::run
