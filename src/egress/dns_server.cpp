// SPDX-License-Identifier: Apache-2.0
#include "egress/dns_server.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "egress/socket_address.h"
#include "egress/sockets.h"

namespace harn::egress {
namespace {

constexpr std::uint32_t answer_ttl = 30;
constexpr int messages_in_turn = 64;

bool is_own_name(std::string_view name, std::string_view hostname) {
  return name == "localhost" || name.ends_with(".localhost") || (!hostname.empty() && name == hostname);
}

// Where a question came from, and which address it was sent to: the answer must come from there.
struct Way {
  sockaddr_storage peer = {};
  socklen_t peer_length = 0;
  in6_pktinfo to = {};
};

void send_back(int fd, const Way& way, const Bytes& message) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(in6_pktinfo))> control = {};
  iovec part = {.iov_base = const_cast<std::uint8_t*>(message.data()), .iov_len = message.size()};
  msghdr header = {};
  header.msg_name = const_cast<sockaddr_storage*>(&way.peer);
  header.msg_namelen = way.peer_length;
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  cmsghdr* note = CMSG_FIRSTHDR(&header);
  note->cmsg_level = IPPROTO_IPV6;
  note->cmsg_type = IPV6_PKTINFO;
  note->cmsg_len = CMSG_LEN(sizeof(in6_pktinfo));
  std::memcpy(CMSG_DATA(note), &way.to, sizeof way.to);
  std::ignore = ::sendmsg(fd, &header, no_signal | MSG_DONTWAIT);
}

}  // namespace

void DnsServer::serve_udp(sys::UniqueFd socket, Admits admits) {
  admits_ = std::move(admits);
  udp_ = std::move(socket);
  std::ignore = state_.loop.watch(udp_.get(), event_in, [this](std::uint32_t) { read_udp(); }, watch_);
}

void DnsServer::read_udp() {
  for (int i = 0; i < messages_in_turn; ++i) {
    std::array<std::uint8_t, 1500> buffer;
    alignas(cmsghdr) std::array<char, 256> control = {};
    Way way;
    iovec part = {.iov_base = buffer.data(), .iov_len = buffer.size()};
    msghdr header = {};
    header.msg_name = &way.peer;
    header.msg_namelen = sizeof way.peer;
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    const auto got = ::recvmsg(udp_.get(), &header, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return;
    way.peer_length = header.msg_namelen;
    bool known = false;
    for (cmsghdr* note = CMSG_FIRSTHDR(&header); note != nullptr; note = CMSG_NXTHDR(&header, note))
      if (note->cmsg_level == IPPROTO_IPV6 && note->cmsg_type == IPV6_PKTINFO) {
        std::memcpy(&way.to, CMSG_DATA(note), sizeof way.to);
        known = true;
      }
    if (admits_ && !admits_(way.peer)) continue;
    if (!known || (header.msg_flags & MSG_TRUNC) != 0) continue;
    way.to.ipi6_ifindex = 0;
    answer({buffer.data(), static_cast<std::size_t>(got)}, [this, way](const Bytes& message) { send_back(udp_.get(), way, message); });
  }
}

void DnsServer::answer(ByteView message, Send send) {
  auto read = parse_question(message);
  if (!read) return;
  if (read->problem != DnsCode::ok) return send(print_answer(read->question, read->problem, {}, 0));
  answer_question(std::move(read->question), std::move(send));
}

void DnsServer::answer_question(DnsQuestion question, Send send) {
  if (is_own_name(question.name, state_.settings.hostname)) {
    const policy::IpBlock loopback[] = {*policy::parse_ipv4("127.0.0.1"), *policy::parse_ipv6("::1")};
    return send(print_answer(question, DnsCode::ok, loopback, answer_ttl));
  }
  const auto destination = policy::parse_destination(question.name);
  if (!destination || destination->name != question.name) {
    // An address is no name, and a name nobody could have is none either.
    if (question.name != "?" && !question.name.empty() && !destination)
      state_.ledger.deny("resolve", question.name, "it is not the name of a host", "");
    return send(print_answer(question, DnsCode::no_such_name, {}, 0));
  }
  const auto verdict = state_.rules.decide_lookup(question.name);
  if (state_.asks(verdict) && !question.name.ends_with(".arpa")) return answer_asked(question, send);
  if (verdict != policy::Verdict::allowed) {
    const bool reverse = question.name.ends_with(".arpa");
    if (!reverse)
      state_.ledger.deny("resolve", question.name, policy::why(verdict),
                         verdict == policy::Verdict::no_rule ? "--allow-host " + question.name : "");
    return send(print_answer(question, DnsCode::no_such_name, {}, 0));
  }
  if (question.type != type_a && question.type != type_aaaa) return send(print_answer(question, DnsCode::ok, {}, 0));
  if (!state_.may_ask("resolve", question.name)) return send(print_answer(question, DnsCode::refused, {}, 0));
  const auto name = question.name;
  state_.lookup.resolve(name, [this, question = std::move(question), send = std::move(send)](const Resolved& resolved) {
    answer_resolved(question, resolved, send);
  });
}

// Nobody outside hears of a name before the operator has: it has our address, and whoever connects there is the question.
void DnsServer::answer_asked(const DnsQuestion& question, const Send& send) {
  const bool address = question.type == type_a || question.type == type_aaaa;
  const auto pair = address ? state_.names.addresses_of(question.name) : std::nullopt;
  if (address && !pair) return send(print_answer(question, DnsCode::failed, {}, 0));
  if (!pair || question.type == type_aaaa) return send(print_answer(question, DnsCode::ok, {}, 0));
  const policy::IpBlock ours[] = {pair->v4};
  send(print_answer(question, DnsCode::ok, ours, answer_ttl));
}

void DnsServer::answer_resolved(const DnsQuestion& question, const Resolved& resolved, const Send& send) {
  if (resolved.failed) return send(print_answer(question, DnsCode::failed, {}, 0));
  if (!resolved.exists) return send(print_answer(question, DnsCode::no_such_name, {}, 0));
  const bool v6 = question.type == type_aaaa;
  const bool has =
      std::ranges::any_of(resolved.addresses, [&](const policy::IpBlock& address) { return policy::fold_mapped(address).v6 == v6; });
  if (!has) return send(print_answer(question, DnsCode::ok, {}, 0));
  const auto pair = state_.names.addresses_of(question.name);
  if (!pair) return send(print_answer(question, DnsCode::failed, {}, 0));
  const policy::IpBlock ours[] = {pair->v4, pair->v6};
  send(print_answer(question, DnsCode::ok, ours, answer_ttl));
}

}  // namespace harn::egress
