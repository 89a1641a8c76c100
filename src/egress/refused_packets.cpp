// SPDX-License-Identifier: Apache-2.0
#include "egress/refused_packets.h"

#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "policy/hosts.h"

namespace harn::egress {
namespace {

constexpr int packets_in_turn = 32;

std::uint16_t port_at(ByteView bytes, std::size_t at) { return static_cast<std::uint16_t>(bytes[at] << 8 | bytes[at + 1]); }

}  // namespace

std::optional<Endpoint> read_ipv4_target(ByteView packet) {
  if (packet.size() < 20) return std::nullopt;
  const std::size_t header = std::size_t{4} * (packet[0] & 0x0f);
  if (header < 20 || packet.size() < header + 4) return std::nullopt;
  Endpoint out{.address = {.v6 = false, .bits = {}, .length = 32}, .port = port_at(packet, header + 2)};
  std::copy(packet.begin() + 16, packet.begin() + 20, out.address.bits.begin());
  return out;
}

RefusedPackets::RefusedPackets(RelayState& state, sys::UniqueFd socket, const sys::GateNote& note, const std::vector<std::uint16_t>& served)
    : state_(state), socket_(std::move(socket)), note_(note), served_(served) {
  std::ignore = state_.loop.watch(socket_.get(), event_in, [this](std::uint32_t) { read(); }, watch_);
}

void RefusedPackets::read() {
  for (int i = 0; i < packets_in_turn; ++i) {
    std::array<std::uint8_t, 128> buffer = {};
    alignas(cmsghdr) std::array<char, 256> control = {};
    iovec part = {.iov_base = buffer.data(), .iov_len = buffer.size()};
    msghdr header = {};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    const auto got = ::recvmsg(socket_.get(), &header, MSG_DONTWAIT);
    if (got < 0) return;
    const ByteView packet(buffer.data(), static_cast<std::size_t>(got));
    if (note_.v6 == 0) {
      if (const auto target = read_ipv4_target(packet)) report(*target);
      continue;
    }
    if (packet.size() < 4) continue;
    for (cmsghdr* note = CMSG_FIRSTHDR(&header); note != nullptr; note = CMSG_NXTHDR(&header, note)) {
      if (note->cmsg_level != IPPROTO_IPV6 || note->cmsg_type != IPV6_PKTINFO) continue;
      in6_pktinfo to = {};
      std::memcpy(&to, CMSG_DATA(note), sizeof to);
      report({.address = ip_of(to.ipi6_addr), .port = port_at(packet, 2)});
    }
  }
}

// What goes to the sandbox's own loopback does not try to leave it.
void RefusedPackets::report(const Endpoint& target) {
  const auto range = policy::special_range(target.address);
  if (range && range->loopback) return;
  if (note_.protocol == IPPROTO_UDP) return state_.deny_datagram(target);
  policy::Destination destination{.address = target.address};
  if (const auto* name = state_.names.name_of(target.address)) destination = {.name = *name};
  const auto text = policy::text_of(HostRule{policy::text_of(destination), target.port});
  if (std::ranges::find(served_, target.port) != served_.end()) return;
  const auto verdict = destination.name.empty() ? state_.rules.decide_address(target.address, target.port)
                                                : state_.rules.decide_name(destination.name, target.port);
  // A rule without a port admits it, but nobody can wait at every port.
  if (verdict == policy::Verdict::allowed)
    return state_.ledger.deny("connect", text, "a rule without a port opens 22, 80 and 443", "--allow-host " + text);
  state_.deny(destination, target.port, verdict);
}

}  // namespace harn::egress
