// SPDX-License-Identifier: Apache-2.0
#include "run/prepare_gates.h"

#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

namespace harn::run {
namespace {

using child::Call;
using child::Op;

constexpr unsigned loopback_index = 1;  // the first interface of every network namespace
constexpr std::uint16_t dns_port = 53;
constexpr int backlog = 4096;
constexpr int free_bind = 78;      // IPV6_FREEBIND, Linux 4.15: answers come from the address that was asked
constexpr int inner_sockets = 64;  // published connections at one time
constexpr unsigned socket_flags = SOCK_CLOEXEC | SOCK_NONBLOCK;
// An address that is not loopback's: libc asks about a family only where an interface has one. 192.0.0.8
// is nobody's by RFC 7600, and the resolver's in resolv.conf.
constexpr std::array<std::uint8_t, 4> own_v4 = {192, 0, 0, 8};
constexpr std::array<std::uint8_t, 16> own_v6 = {0xfd, 0x68, 0x61, 0x72, 0x6e, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

constexpr std::string_view unpaced{"reno", sizeof "reno"};  // a control of congestion that every kernel has

const int off = 0;
const int on = 1;

// Copies of the first packet of each connection, and of datagrams that are neither for nor from the
// resolver. The header of IPv4 is part of what a filter sees, that of IPv6 is not.
sock_filter tcp4_code[] = {
    BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0),          BPF_STMT(BPF_LD | BPF_B | BPF_IND, 13), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x12),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x02, 0, 1), BPF_STMT(BPF_RET | BPF_K, 128),         BPF_STMT(BPF_RET | BPF_K, 0),
};
sock_filter tcp6_code[] = {
    BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13),
    BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x12),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x02, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, 128),
    BPF_STMT(BPF_RET | BPF_K, 0),
};
sock_filter udp4_code[] = {
    BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 16),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 127, 6, 0),
    BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0),
    BPF_STMT(BPF_LD | BPF_H | BPF_IND, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, dns_port, 3, 0),
    BPF_STMT(BPF_LD | BPF_H | BPF_IND, 2),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, dns_port, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, 128),
    BPF_STMT(BPF_RET | BPF_K, 0),
};
sock_filter udp6_code[] = {
    BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, dns_port, 3, 0),
    BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 2), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, dns_port, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, 128),        BPF_STMT(BPF_RET | BPF_K, 0),
};
const sock_fprog tcp4_filter = {.len = std::size(tcp4_code), .filter = tcp4_code};
const sock_fprog tcp6_filter = {.len = std::size(tcp6_code), .filter = tcp6_code};
const sock_fprog udp4_filter = {.len = std::size(udp4_code), .filter = udp4_code};
const sock_fprog udp6_filter = {.len = std::size(udp6_code), .filter = udp6_code};

template <class T>
std::uintptr_t word(const T* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

void append(std::string& out, const void* bytes, std::size_t count) {
  out.append(static_cast<const char*>(bytes), count);
  out.resize(NLMSG_ALIGN(out.size()), '\0');
}

void append_attribute(std::string& out, unsigned short type, const void* bytes, std::size_t count) {
  const rtattr header = {.rta_len = static_cast<unsigned short>(RTA_LENGTH(count)), .rta_type = type};
  append(out, &header, sizeof header);
  append(out, bytes, count);
}

// Said twice it holds as well: a relay may come after another.
std::string finish_request(unsigned short type, const std::string& body) {
  const nlmsghdr header = {.nlmsg_len = static_cast<std::uint32_t>(NLMSG_HDRLEN + body.size()),
                           .nlmsg_type = type,
                           .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE,
                           .nlmsg_seq = 1,
                           .nlmsg_pid = 0};
  std::string out;
  append(out, &header, sizeof header);
  return out + body;
}

std::string address_request(int family, const std::uint8_t* address, std::size_t length) {
  const ifaddrmsg message = {.ifa_family = static_cast<std::uint8_t>(family),
                             .ifa_prefixlen = static_cast<std::uint8_t>(8 * length),
                             .ifa_flags = IFA_F_NODAD,
                             .ifa_scope = RT_SCOPE_UNIVERSE,
                             .ifa_index = loopback_index};
  std::string body;
  append(body, &message, sizeof message);
  append_attribute(body, IFA_LOCAL, address, length);
  append_attribute(body, IFA_ADDRESS, address, length);
  return finish_request(RTM_NEWADDR, body);
}

// "Every address is one of mine", said about loopback.
std::string route_request(int family) {
  const rtmsg message = {.rtm_family = static_cast<std::uint8_t>(family),
                         .rtm_dst_len = 0,
                         .rtm_src_len = 0,
                         .rtm_tos = 0,
                         .rtm_table = RT_TABLE_LOCAL,
                         .rtm_protocol = RTPROT_STATIC,
                         .rtm_scope = static_cast<std::uint8_t>(family == AF_INET ? RT_SCOPE_HOST : RT_SCOPE_UNIVERSE),
                         .rtm_type = RTN_LOCAL,
                         .rtm_flags = 0};
  std::string body;
  append(body, &message, sizeof message);
  append_attribute(body, RTA_OIF, &loopback_index, sizeof loopback_index);
  // Nothing is lost on loopback, and whatever paces its packets there (BBR) only costs time.
  std::string metrics;
  append_attribute(metrics, RTAX_CC_ALGO, unpaced.data(), unpaced.size());
  append_attribute(body, RTA_METRICS, metrics.data(), metrics.size());
  return finish_request(RTM_NEWROUTE, body);
}

class GateWriter {
 public:
  GateWriter(ScriptWriter& writer, int channel, GateParts& parts) : writer_(writer), channel_(channel), parts_(parts) {}

  // Where the kernel has IPv6 switched off, nobody inside has it either.
  void request(int family, std::string message, std::string label) {
    const auto& kept = parts_.requests.emplace_back(std::move(message));
    const std::uint64_t optional = family == AF_INET6 ? 1 : 0;
    writer_.add({.op = Op::ask_netlink, .number = NETLINK_ROUTE, .mask = kept.size(), .more = optional, .pointer = kept.data()},
                std::move(label));
  }

  void listener(std::uint16_t port, sys::GateKind kind) {
    auto calls = bound(SOCK_STREAM, port);
    // Connections of a relay that was killed may still be on their way out.
    calls.insert(calls.begin() + 1, option(SOL_SOCKET, SO_REUSEADDR, &on, sizeof on));
    calls.push_back(option(IPPROTO_TCP, TCP_CONGESTION, unpaced.data(), unpaced.size()));
    calls.push_back({.number = SYS_listen, .arguments = {child::first_answer, backlog}});
    gate(std::move(calls), {.kind = kind, .port = port}, fmt::format("wait at port {} inside", port));
  }

  void resolver() {
    auto calls = bound(SOCK_DGRAM, dns_port);
    calls.push_back(option(IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on));
    calls.push_back(option(IPPROTO_IPV6, free_bind, &on, sizeof on));
    gate(std::move(calls), {.kind = sys::GateKind::dns, .port = dns_port}, "wait for questions about names inside");
  }

  void refused(int family, int protocol, const sock_fprog& filter) {
    std::vector<Call> calls = {socket(family, SOCK_RAW, protocol)};
    if (family == AF_INET6) calls.push_back(option(IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on));
    calls.push_back(option(SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter));
    gate(std::move(calls), {.kind = sys::GateKind::refused, .protocol = static_cast<std::uint8_t>(protocol), .v6 = family == AF_INET6},
         "see what is refused inside");
  }

  void inner() { gate({socket(AF_INET, SOCK_STREAM, 0)}, {.kind = sys::GateKind::inner}, "make a socket inside for published ports"); }

  void send() {
    if (pending_.empty()) return;
    const auto& notes = parts_.notes.emplace_back(std::move(pending_));
    pending_.clear();
    writer_.add({.op = Op::send_gates, .number = channel_, .mask = notes.size() * sizeof(sys::GateNote), .pointer = notes.data()},
                "hand the sockets to the relay");
  }

 private:
  static Call socket(int family, int type, int protocol) {
    return {.number = SYS_socket,
            .arguments = {static_cast<std::uintptr_t>(family), static_cast<std::uintptr_t>(type) | socket_flags,
                          static_cast<std::uintptr_t>(protocol)}};
  }
  template <class T>
  static Call option(int level, int name, const T* value, std::size_t size) {
    return {.number = SYS_setsockopt,
            .arguments = {child::first_answer, static_cast<std::uintptr_t>(level), static_cast<std::uintptr_t>(name), word(value), size}};
  }
  // One socket for both families: IPv4 shows up as ::ffff:a.b.c.d.
  std::vector<Call> bound(int type, std::uint16_t port) {
    auto& address = parts_.addresses.emplace_back();
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(port);
    return {socket(AF_INET6, type, 0), option(IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off),
            Call{.number = SYS_bind, .arguments = {child::first_answer, word(&address), sizeof address}}};
  }

  void gate(std::vector<Call> calls, sys::GateNote note, std::string label) {
    const auto& kept = parts_.calls.emplace_back(std::move(calls));
    writer_.add({.op = Op::open_gate, .mask = kept.size(), .pointer = kept.data()}, std::move(label));
    pending_.push_back(note);
    if (pending_.size() == child::most_gates) send();
  }

  ScriptWriter& writer_;
  int channel_;
  GateParts& parts_;
  std::vector<sys::GateNote> pending_ = {};
};

}  // namespace

void write_more_gates(ScriptWriter& writer, const EgressPlan& egress, const std::vector<std::uint16_t>& served, int channel,
                      GateParts& parts) {
  GateWriter gates(writer, channel, parts);
  for (const auto port : egress.ports)
    if (std::ranges::find(served, port) == served.end()) gates.listener(port, sys::GateKind::listener);
  gates.send();
}

void write_gates(ScriptWriter& writer, const EgressPlan& egress, int channel, GateParts& parts) {
  static_assert(child::most_gates == sys::most_gates_in_message);
  GateWriter gates(writer, channel, parts);
  if (!egress.allow.empty() || egress.asks) {
    gates.request(AF_INET, address_request(AF_INET, own_v4.data(), own_v4.size()), "give loopback an IPv4 address");
    gates.request(AF_INET6, address_request(AF_INET6, own_v6.data(), own_v6.size()), "give loopback an IPv6 address");
    gates.request(AF_INET, route_request(AF_INET), "lead every IPv4 address to loopback");
    gates.request(AF_INET6, route_request(AF_INET6), "lead every IPv6 address to loopback");
    gates.resolver();
    for (const auto port : egress.ports) gates.listener(port, sys::GateKind::listener);
    const auto free = [&](std::uint16_t port) { return std::ranges::find(egress.ports, port) == egress.ports.end(); };
    if (free(dns_port)) gates.listener(dns_port, sys::GateKind::dns_tcp);
    if (free(egress.relay_port)) gates.listener(egress.relay_port, sys::GateKind::listener);
    gates.refused(AF_INET, IPPROTO_TCP, tcp4_filter);
    gates.refused(AF_INET6, IPPROTO_TCP, tcp6_filter);
    gates.refused(AF_INET, IPPROTO_UDP, udp4_filter);
    gates.refused(AF_INET6, IPPROTO_UDP, udp6_filter);
  }
  if (!egress.publish.empty())
    for (int i = 0; i < inner_sockets; ++i) gates.inner();
  gates.send();
}

}  // namespace harn::run
