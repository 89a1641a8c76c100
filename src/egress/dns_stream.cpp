// SPDX-License-Identifier: Apache-2.0
#include "egress/dns_stream.h"

#include <errno.h>
#include <sys/socket.h>

#include <array>

#include "egress/socket_address.h"
#include "egress/sockets.h"

namespace harn::egress {
namespace {

constexpr std::size_t most_streams = 64;

}  // namespace

DnsStream::DnsStream(RelayState& state, DnsServer& server, sys::UniqueFd client)
    : state_(state), server_(server), client_(std::move(client)) {
  ++state_.dns_streams;
}

DnsStream::~DnsStream() { --state_.dns_streams; }

void DnsStream::begin(RelayState& state, DnsServer& server, sys::UniqueFd client) {
  if (state.dns_streams >= most_streams) return reset_connection(std::move(client));
  const auto made = std::make_shared<DnsStream>(state, server, std::move(client));
  // The watch holds it, until it stops.
  std::ignore = state.loop.watch(made->client_.get(), event_in, [made](std::uint32_t) { made->read(); }, made->watch_);
}

void DnsStream::read() {
  std::array<char, 4096> buffer;
  const auto got = ::recv(client_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return end();
  heard_.append(buffer.data(), static_cast<std::size_t>(got));
  while (client_ && heard_.size() >= 2) {
    const auto length = static_cast<std::size_t>(static_cast<std::uint8_t>(heard_[0]) << 8 | static_cast<std::uint8_t>(heard_[1]));
    if (length > buffer.size()) return end();
    if (heard_.size() < 2 + length) return;
    const Bytes message(heard_.begin() + 2, heard_.begin() + 2 + static_cast<long>(length));
    heard_.erase(0, 2 + length);
    server_.answer(message, [self = shared_from_this()](const Bytes& reply) { self->send(reply); });
  }
}

void DnsStream::send(const Bytes& message) {
  if (!client_) return;
  std::string out;
  out += static_cast<char>(message.size() >> 8);
  out += static_cast<char>(message.size() & 0xff);
  out.append(message.begin(), message.end());
  if (::send(client_.get(), out.data(), out.size(), no_signal | MSG_DONTWAIT) != static_cast<ssize_t>(out.size())) end();
}

void DnsStream::end() {
  client_ = {};
  watch_.stop();
}

}  // namespace harn::egress
