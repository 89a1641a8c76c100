// SPDX-License-Identifier: Apache-2.0
#include "egress/announced.h"

#include <errno.h>

#include <algorithm>
#include <cstring>

#include "policy/hosts.h"

namespace harn::egress {
namespace {

constexpr int messages_in_turn = 64;
constexpr std::size_t most_waiting = 1024;
constexpr std::chrono::seconds patience{5};
constexpr std::chrono::seconds port_life{300};  // of who may ask the resolver: later the port may be somebody else's

// Only the host's own loopback has led anybody here.
std::optional<std::uint16_t> port_of(const sockaddr_storage& peer) {
  const auto from = endpoint_of(peer);
  if (!from || from->address != *policy::parse_ipv4("127.0.0.1")) return std::nullopt;
  return from->port;
}

}  // namespace

void Announced::listen_to(sys::UniqueFd announcements) {
  announcements_ = std::move(announcements);
  std::ignore = state_.loop.watch(announcements_.get(), event_in, [this](std::uint32_t) { hear(); }, watch_);
}

void Announced::hear() {
  for (int i = 0; i < messages_in_turn; ++i) {
    sys::Announcement said;
    const auto got = ::recv(announcements_.get(), &said, sizeof said, MSG_DONTWAIT | MSG_TRUNC);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (got <= 0) return watch_.stop();
    if (got == static_cast<ssize_t>(sizeof said)) take(said);
  }
}

void Announced::take(const sys::Announcement& said) {
  in6_addr address = {};
  std::memcpy(&address, said.address, sizeof address);
  const Endpoint wanted{.address = ip_of(address), .port = said.port};
  if (said.kind == sys::AnnouncedKind::resolver) {
    resolver_clients_[said.from] = state_.loop.now();
    return;
  }
  if (said.kind == sys::AnnouncedKind::refused) return state_.deny_datagram(wanted);
  const auto found = waiting_.find(said.from);
  if (found == waiting_.end()) {
    if (told_.size() < most_waiting) told_[said.from] = {.wanted = wanted, .since = state_.loop.now()};
    return;
  }
  auto client = std::move(found->second.client);
  waiting_.erase(found);
  serve_(std::move(client), wanted);
}

void Announced::arrived(sys::UniqueFd client, const sockaddr_storage& peer) {
  const auto port = port_of(peer);
  if (!port) return reset_connection(std::move(client));
  const auto found = told_.find(*port);
  if (found != told_.end()) {
    const auto wanted = found->second.wanted;
    told_.erase(found);
    return serve_(std::move(client), wanted);
  }
  // Somebody else of this host may try to fill the list; whoever is announced is so at once, and needs no long wait.
  if (waiting_.size() >= most_waiting) {
    const auto oldest = std::ranges::min_element(waiting_, {}, [](const auto& one) { return one.second.since; });
    reset_connection(std::move(oldest->second.client));
    waiting_.erase(oldest);
  }
  waiting_[*port] = {.client = std::move(client), .since = state_.loop.now()};
}

bool Announced::may_ask(const sockaddr_storage& peer) {
  const auto port = port_of(peer);
  if (port && !resolver_clients_.contains(*port) && announcements_) hear();
  return port && resolver_clients_.contains(*port);
}

// Nobody of ours: somebody else of this host found the port.
void Announced::tick() {
  const auto now = state_.loop.now();
  std::erase_if(resolver_clients_, [&](const auto& one) { return now - one.second > port_life; });
  std::erase_if(told_, [&](const auto& one) { return now - one.second.since > patience; });
  for (auto one = waiting_.begin(); one != waiting_.end();) {
    if (now - one->second.since <= patience) {
      ++one;
      continue;
    }
    reset_connection(std::move(one->second.client));
    one = waiting_.erase(one);
  }
}

}  // namespace harn::egress
