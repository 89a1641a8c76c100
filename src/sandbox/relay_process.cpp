// SPDX-License-Identifier: Apache-2.0
#include "sandbox/relay_process.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>

#include "egress/channel.h"
#include "egress/settings.h"
#include "egress/socket_address.h"
#include "sandbox/relay_settings.h"
#include "sandbox/relay_talk.h"
#include "sys/files.h"

namespace harn::sandbox {
namespace {

constexpr int relay_backlog = 4096;
constexpr std::array<std::uint8_t, 16> mapped_loopback = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};

// On a port the kernel chooses. The resolver's socket is one that knows which address it was asked at.
Result<sys::UniqueFd> on_loopback(int type, std::uint16_t& port) {
  const bool resolver = type == SOCK_DGRAM;
  sys::UniqueFd fd(::socket(resolver ? AF_INET6 : AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  const int off = 0;
  auto v4 = *policy::parse_ipv4("127.0.0.1");
  auto address = egress::socket_address(v4, 0);
  if (resolver) address = egress::socket_address({.v6 = true, .bits = mapped_loopback, .length = 128}, 0);
  const bool ready = fd && (!resolver || (::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) == 0 &&
                                          ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on) == 0));
  // Nothing is lost on the way to a program of this host.
  if (fd && !resolver) ::setsockopt(fd.get(), IPPROTO_TCP, TCP_CONGESTION, "reno", sizeof "reno");
  if (!ready || ::bind(fd.get(), address.get(), address.length) != 0 || (!resolver && ::listen(fd.get(), relay_backlog) != 0))
    return fail(sys::os_failure("bind", "a port of 127.0.0.1 for the relay", errno, Stage::prepare));
  const auto bound = egress::destination_of(fd.get());
  port = bound ? bound->port : 0;
  return fd;
}

}  // namespace

Status RelayProcess::open_on_loopback(std::vector<egress::ReceivedGate>& gates) {
  HARN_TRY(streams, on_loopback(SOCK_STREAM, stream_port_));
  HARN_TRY(resolver, on_loopback(SOCK_DGRAM, resolver_port_));
  HARN_TRY(pair, make_channel());
  announcements_ = std::move(pair.ours);
  gates.push_back({.note = {.kind = sys::GateKind::announced}, .socket = std::move(streams)});
  gates.push_back({.note = {.kind = sys::GateKind::dns}, .socket = std::move(resolver)});
  gates.push_back({.note = {.kind = sys::GateKind::announcements}, .socket = std::move(pair.theirs)});
  return {};
}

Result<RelayProcess> RelayProcess::start(const Plan& plan, const RunOptions& options) {
  RelayProcess out;
  if (!plan.egress) return out;
  HARN_TRY(settings, relay_settings(*plan.egress, options.nameservers));
  HARN_TRY(gates, published_gates(*plan.egress));
  if (plan.egress->supervised) HARN_OK(out.open_on_loopback(gates));
  if (options.relay_control.listener >= 0) {
    settings.secret = options.relay_control.secret;
    gates.push_back(
        {.note = {.kind = sys::GateKind::control}, .socket = sys::UniqueFd(::fcntl(options.relay_control.listener, F_DUPFD_CLOEXEC, 3))});
  }
  HARN_TRY(file, settings_file(settings));
  HARN_TRY(channel, make_channel());
  out.channel_ = std::move(channel.ours);
  const auto theirs = std::move(channel.theirs);
  HARN_OK(egress::send_gates(out.channel_.get(), gates));
  HARN_TRY(prepared, prepare_relay({.sandbox = std::get<LinuxConfinement>(plan.confinement),
                                    .channel = theirs.get(),
                                    .settings = file.get(),
                                    .die_with_thread = options.whole_process}));
  HARN_TRY(process, run::spawn(std::move(prepared.child)));
  out.process_.emplace(std::move(process));
  return out;
}

run::Attended RelayProcess::attended(const HostQuestionSink& sink) const {
  if (!channel_ || !sink) return {};
  return {.fd = channel_.get(), .attend = [channel = channel_.get(), &sink] {
            std::array<char, 4096> buffer = {};
            const auto got = ::recv(channel, buffer.data(), buffer.size(), MSG_DONTWAIT);
            if (got < 0) return errno == EAGAIN || errno == EINTR;
            if (got == 0) return false;
            const auto asked = egress::read_question_line({buffer.data(), static_cast<std::size_t>(got)});
            if (!asked) return true;
            sink(*asked, [channel, id = asked->question](bool allowed) {
              std::ignore = egress::send_verdict(channel, {.question = id, .allowed = allowed ? 1u : 0u});
            });
            return true;
          }};
}

void RelayProcess::end() {
  if (!process_) return;
  ::shutdown(channel_.get(), SHUT_WR);
  complete_ = read_report(channel_.get(), seen_);
  process_.reset();  // ended by now, or ended here
}

void RelayProcess::report(Outcome& outcome) {
  if (!channel_) return;
  end();
  add_report(std::move(seen_), complete_, outcome);
  channel_ = {};
}

}  // namespace harn::sandbox
