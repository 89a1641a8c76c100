// SPDX-License-Identifier: Apache-2.0
#include "egress/lookup.h"

#include <errno.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "egress/socket_address.h"
#include "egress/sockets.h"
#include "sys/random_number.h"

namespace harn::egress {
namespace {

constexpr std::size_t most_pending = 512;
constexpr std::size_t most_kept = 4096;
constexpr std::uint32_t longest_kept = 300;
constexpr std::uint32_t shortest_kept = 1;
constexpr std::uint32_t absence_kept = 5;
constexpr int rounds = 2;

std::array<std::uint16_t, 2> random_numbers() {
  const auto number = sys::random_number();
  std::array<std::uint16_t, 2> out = {static_cast<std::uint16_t>(number), static_cast<std::uint16_t>(number >> 16)};
  if (out[0] == out[1]) ++out[1];
  return out;
}

}  // namespace

struct Lookup::Pending {
  std::string name = {};
  std::vector<Answer> waiting = {};
  sys::UniqueFd socket = {};
  EventLoop::Watch watch = {};
  std::array<std::uint16_t, 2> ids = {};
  std::array<std::optional<DnsReply>, 2> replies = {};
  std::size_t attempt = 0;
  Clock::time_point next = {};
  Clock::time_point deadline = {};
};

Lookup::Lookup(EventLoop& loop, const RelaySettings& settings) : loop_(loop), settings_(settings) {}
Lookup::~Lookup() = default;

void Lookup::resolve(const std::string& name, Answer answer) {
  if (const auto own = settings_.hosts.find(name); own != settings_.hosts.end()) return answer({.addresses = own->second});
  if (const auto kept = kept_.find(name); kept != kept_.end() && kept->second.until > loop_.now()) {
    const auto resolved = kept->second.resolved;
    return answer(resolved);
  }
  if (const auto found = pending_.find(name); found != pending_.end()) {
    found->second->waiting.push_back(std::move(answer));
    return;
  }
  if (pending_.size() >= most_pending || settings_.nameservers.empty()) return answer({.failed = true});
  auto made = std::make_unique<Pending>();
  made->name = name;
  made->waiting.push_back(std::move(answer));
  made->deadline = loop_.now() + std::chrono::milliseconds(settings_.limits.lookup_ms);
  auto& pending = *pending_.emplace(name, std::move(made)).first->second;
  try_next(pending);
}

// Each attempt has a socket and numbers of its own: whoever wants to forge an answer must guess both.
bool Lookup::ask(Pending& pending) {
  const auto& server = settings_.nameservers[pending.attempt % settings_.nameservers.size()];
  pending.watch.stop();
  pending.socket = open_socket(server.address.v6 ? AF_INET6 : AF_INET, SOCK_DGRAM);
  const auto address = socket_address(server.address, server.port);
  if (!pending.socket || ::connect(pending.socket.get(), address.get(), address.length) != 0) return false;
  pending.ids = random_numbers();
  pending.replies = {};
  const auto name = pending.name;
  if (!loop_.watch(pending.socket.get(), event_in, [this, name](std::uint32_t) { take(name); }, pending.watch)) return false;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto message = print_question(pending.ids[i], pending.name, i == 0 ? type_a : type_aaaa);
    if (message.empty() || ::send(pending.socket.get(), message.data(), message.size(), no_signal) < 0) return false;
  }
  return true;
}

void Lookup::try_next(Pending& pending) {
  const auto attempts = rounds * settings_.nameservers.size();
  while (pending.attempt < attempts) {
    const bool asked = ask(pending);
    ++pending.attempt;
    if (!asked) continue;
    pending.next = loop_.now() + std::chrono::milliseconds(settings_.limits.lookup_ms / attempts);
    return;
  }
  const auto name = pending.name;
  finish(name, {.failed = true}, 0);
}

void Lookup::take(const std::string& name) {
  const auto found = pending_.find(name);
  if (found == pending_.end()) return;
  auto& pending = *found->second;
  std::array<std::uint8_t, 4096> buffer = {};
  for (;;) {
    const auto got = ::recv(pending.socket.get(), buffer.data(), buffer.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) break;
    if (got < 0) return try_next(pending);  // nobody listens there
    for (std::size_t i = 0; i < 2; ++i) {
      auto reply = parse_reply({buffer.data(), static_cast<std::size_t>(got)}, pending.ids[i], pending.name, i == 0 ? type_a : type_aaaa);
      if (reply && !pending.replies[i]) pending.replies[i] = std::move(reply);
    }
  }
  if (!pending.replies[0] || !pending.replies[1]) return;
  Resolved out;
  std::uint32_t ttl = UINT32_MAX;
  bool answered = false;
  for (auto& reply : pending.replies) {
    if (reply->code == DnsCode::no_such_name) out.exists = false;
    if (reply->code != DnsCode::ok) continue;
    answered = true;
    ttl = std::min(ttl, reply->ttl);
    out.addresses.insert(out.addresses.end(), reply->addresses.begin(), reply->addresses.end());
    out.aliases.insert(out.aliases.end(), reply->aliases.begin(), reply->aliases.end());
  }
  if (!out.addresses.empty()) out.exists = true;
  if (!answered && out.exists) return try_next(pending);
  finish(name, std::move(out), ttl);
}

void Lookup::finish(const std::string& name, Resolved resolved, std::uint32_t ttl) {
  const auto found = pending_.find(name);
  auto ended = std::move(found->second);
  pending_.erase(found);
  if (!resolved.failed) {
    if (kept_.size() >= most_kept) kept_.clear();
    const auto seconds = resolved.addresses.empty() ? absence_kept : std::clamp(ttl, shortest_kept, longest_kept);
    kept_.insert_or_assign(name, Kept{resolved, loop_.now() + std::chrono::seconds(seconds)});
  }
  for (const auto& answer : ended->waiting) answer(resolved);
}

void Lookup::tick() {
  std::vector<std::string> late;
  for (const auto& [name, pending] : pending_)
    if (loop_.now() >= pending->next) late.push_back(name);
  for (const auto& name : late) {
    const auto found = pending_.find(name);
    if (found == pending_.end()) continue;
    auto& pending = *found->second;
    // One family is better than none: some resolvers never answer about the other.
    const bool half = pending.replies[0].has_value() || pending.replies[1].has_value();
    if (half && loop_.now() < pending.deadline) {
      const auto& reply = pending.replies[0] ? *pending.replies[0] : *pending.replies[1];
      if (reply.code == DnsCode::ok && !reply.addresses.empty()) {
        finish(name, {.addresses = reply.addresses, .aliases = reply.aliases}, reply.ttl);
        continue;
      }
    }
    if (loop_.now() >= pending.deadline) finish(name, {.failed = true}, 0);
    else try_next(pending);
  }
}

}  // namespace harn::egress
