// SPDX-License-Identifier: Apache-2.0
#include "egress/channel.h"
#include "egress/sockets.h"

#include <errno.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

#include "sys/files.h"

namespace harn::egress {
namespace {

using Notes = std::array<sys::GateNote, sys::most_gates_in_message>;
constexpr std::size_t control_bytes = CMSG_SPACE(sizeof(int) * sys::most_gates_in_message);

Error broken() {
  return {.code = ErrorCode::protocol, .stage = Stage::prepare, .message = "the relay was sent something it does not know"};
}

std::vector<sys::UniqueFd> descriptors_in(msghdr& header) {
  std::vector<sys::UniqueFd> out;
  for (cmsghdr* note = CMSG_FIRSTHDR(&header); note != nullptr; note = CMSG_NXTHDR(&header, note)) {
    if (note->cmsg_level != SOL_SOCKET || note->cmsg_type != SCM_RIGHTS) continue;
    const auto count = (note->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(note) + i * sizeof(int), sizeof fd);
      out.emplace_back(fd);
    }
  }
  return out;
}

}  // namespace

Result<Received> receive_gates(int channel) {
  Notes notes = {};
  alignas(cmsghdr) std::array<char, control_bytes> control = {};
  iovec part = {.iov_base = notes.data(), .iov_len = sizeof notes};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  const auto got = ::recvmsg(channel, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Received{};
  if (got < 0) return fail(sys::os_failure("recvmsg", "the launcher", errno, Stage::prepare));
  auto descriptors = descriptors_in(header);
  if (got == 0) return Received{.ended = true};
  if (descriptors.empty() && static_cast<std::size_t>(got) == sizeof(HostVerdict)) {
    std::array<std::uint64_t, 2> words = {};
    std::memcpy(words.data(), static_cast<const void*>(notes.data()), sizeof words);
    return Received{.verdict = HostVerdict{.question = words[0], .allowed = words[1]}};
  }
  const auto count = static_cast<std::size_t>(got) / sizeof(sys::GateNote);
  if (static_cast<std::size_t>(got) % sizeof(sys::GateNote) != 0 || count != descriptors.size() ||
      (header.msg_flags & (MSG_CTRUNC | MSG_TRUNC)) != 0)
    return fail(broken());
  Received out;
  for (std::size_t i = 0; i < count; ++i) out.gates.push_back({.note = notes[i], .socket = std::move(descriptors[i])});
  return out;
}

Status send_gates(int channel, std::span<const ReceivedGate> gates) {
  if (gates.empty()) return {};
  if (gates.size() > sys::most_gates_in_message) return fail(broken());
  Notes notes = {};
  alignas(cmsghdr) std::array<char, control_bytes> control = {};
  std::vector<int> fds;
  for (std::size_t i = 0; i < gates.size(); ++i) {
    notes[i] = gates[i].note;
    fds.push_back(gates[i].socket.get());
  }
  iovec part = {.iov_base = notes.data(), .iov_len = gates.size() * sizeof(sys::GateNote)};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
  cmsghdr* note = CMSG_FIRSTHDR(&header);
  note->cmsg_level = SOL_SOCKET;
  note->cmsg_type = SCM_RIGHTS;
  note->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
  std::memcpy(CMSG_DATA(note), fds.data(), fds.size() * sizeof(int));
  if (::sendmsg(channel, &header, no_signal) < 0) return fail(sys::os_failure("sendmsg", "the relay", errno, Stage::prepare));
  return {};
}

Status send_verdict(int channel, const HostVerdict& verdict) {
  while (::send(channel, &verdict, sizeof verdict, no_signal) < 0)
    if (errno != EINTR) return fail(sys::os_failure("send", "the relay", errno, Stage::supervise));
  return {};
}

bool send_line_now(int channel, std::string_view line) { return ::send(channel, line.data(), line.size(), no_signal | MSG_DONTWAIT) > 0; }

Status send_line(int channel, std::string_view line) {
  while (::send(channel, line.data(), line.size(), no_signal) < 0)
    if (errno != EINTR) return fail(sys::os_failure("send", "the launcher", errno, Stage::supervise));
  return {};
}

}  // namespace harn::egress
