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

Result<Message> receive_message(int channel) {
  Message out;
  out.bytes.resize(sizeof(Notes));
  alignas(cmsghdr) std::array<char, control_bytes> control = {};
  iovec part = {.iov_base = out.bytes.data(), .iov_len = out.bytes.size()};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  const auto got = ::recvmsg(channel, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Message{.none = true};
  if (got < 0) return fail(sys::os_failure("recvmsg", "the launcher", errno, Stage::prepare));
  out.descriptors = descriptors_in(header);
  out.ended = got == 0;
  out.bytes.resize(static_cast<std::size_t>(got));
  if ((header.msg_flags & (MSG_CTRUNC | MSG_TRUNC)) != 0) return fail(broken());
  return out;
}

Result<std::vector<ReceivedGate>> gates_in(Message message) {
  const auto count = message.bytes.size() / sizeof(sys::GateNote);
  if (message.bytes.size() % sizeof(sys::GateNote) != 0 || count != message.descriptors.size()) return fail(broken());
  Notes notes = {};
  std::memcpy(static_cast<void*>(notes.data()), message.bytes.data(), message.bytes.size());
  std::vector<ReceivedGate> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back({.note = notes[i], .socket = std::move(message.descriptors[i])});
  return out;
}

Result<Received> receive_gates(int channel) {
  HARN_TRY(message, receive_message(channel));
  if (message.none || message.ended) return Received{.ended = message.ended};
  if (message.descriptors.empty() && message.bytes.size() == sizeof(HostVerdict)) {
    std::array<std::uint64_t, 2> words = {};
    std::memcpy(words.data(), message.bytes.data(), sizeof words);
    return Received{.verdict = HostVerdict{.question = words[0], .allowed = words[1]}};
  }
  HARN_TRY(gates, gates_in(std::move(message)));
  return Received{.gates = std::move(gates)};
}

namespace {

int send_with(int channel, const void* bytes, std::size_t count, std::span<const int> fds) {
  alignas(cmsghdr) std::array<char, control_bytes> control = {};
  iovec part = {.iov_base = const_cast<void*>(bytes), .iov_len = count};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (!fds.empty()) {
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* note = CMSG_FIRSTHDR(&header);
    note->cmsg_level = SOL_SOCKET;
    note->cmsg_type = SCM_RIGHTS;
    note->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(note), fds.data(), fds.size_bytes());
  }
  while (::sendmsg(channel, &header, no_signal) < 0)
    if (errno != EINTR) return errno;
  return 0;
}

}  // namespace

Status send_gates(int channel, std::span<const ReceivedGate> gates) {
  if (gates.empty()) return {};
  if (gates.size() > sys::most_gates_in_message) return fail(broken());
  Notes notes = {};
  std::vector<int> fds;
  for (std::size_t i = 0; i < gates.size(); ++i) {
    notes[i] = gates[i].note;
    fds.push_back(gates[i].socket.get());
  }
  if (const int error = send_with(channel, notes.data(), gates.size() * sizeof(sys::GateNote), fds); error != 0)
    return fail(sys::os_failure("sendmsg", "the relay", error, Stage::prepare));
  return {};
}

Status send_message(int channel, std::string_view bytes, int descriptor) {
  const auto fds = descriptor < 0 ? std::span<const int>() : std::span<const int>(&descriptor, 1);
  if (const int error = send_with(channel, bytes.data(), bytes.size(), fds); error != 0)
    return fail(sys::os_failure("sendmsg", "the relay", error, Stage::supervise));
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
