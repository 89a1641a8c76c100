// SPDX-License-Identifier: Apache-2.0
#include "egress/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

#include "egress/connection.h"
#include "egress/dns_stream.h"
#include "egress/socket_address.h"
#include "egress/sockets.h"

namespace harn::egress {
namespace {

constexpr int accepts_in_turn = 64;
constexpr std::uint16_t dns_port = 53;
constexpr std::chrono::milliseconds tick_every{100};
constexpr std::chrono::milliseconds rest{60'000};

bool out_of_room(int error) { return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM; }

}  // namespace

Relay::Relay(EventLoop& loop, RelaySettings settings, policy::EgressRules rules)
    : state_(loop, std::move(settings), std::move(rules)),
      dns_(state_),
      control_(state_.loop, state_.ledger,
               {.apply = [this](RelaySettings told) { return apply(std::move(told)); },
                .add_gate = [this](ReceivedGate gate) { add_gate(gate.note, std::move(gate.socket)); },
                .served = [this] { return served_; },
                .end = [this] { ended_ = true; }}),
      announced_(state_, [this](sys::UniqueFd client, const Endpoint& wanted) { lead(std::move(client), wanted); }),
      spare_(::fcntl(0, F_DUPFD_CLOEXEC, 3)) {}

Result<std::unique_ptr<Relay>> Relay::make(EventLoop& loop, RelaySettings settings) {
  HARN_TRY(rules, policy::EgressRules::make(settings.rules));
  return std::unique_ptr<Relay>(new Relay(loop, std::move(settings), std::move(rules)));
}

void Relay::add_gate(const sys::GateNote& note, sys::UniqueFd socket) {
  using sys::GateKind;
  if (note.kind == GateKind::control) return control_.listen_on(std::move(socket), state_.settings.secret);
  if (note.kind == GateKind::life) {
    life_ = std::move(socket);
    if (!state_.loop.watch(life_.get(), event_in, [this](std::uint32_t) { ended_ = true; }, life_watch_)) ended_ = true;
    return;
  }
  if (note.kind == GateKind::announcements) return announced_.listen_to(std::move(socket));
  if (note.kind == GateKind::dns && state_.settings.announced)
    return dns_.serve_udp(std::move(socket), [this](const sockaddr_storage& peer) { return announced_.may_ask(peer); });
  if (note.kind == GateKind::dns) return dns_.serve_udp(std::move(socket));
  if (note.kind == GateKind::inner) return state_.inner.push_back(std::move(socket));
  if (note.kind == GateKind::refused) {
    refused_.push_back(std::make_unique<RefusedPackets>(state_, std::move(socket), note, served_));
    return;
  }
  if (note.kind != GateKind::published) served_.push_back(note.port);
  auto& gate = gates_.emplace_back(Gate{.note = note, .socket = std::move(socket)});
  std::ignore = state_.loop.watch(gate.socket.get(), event_in, [this, &gate](std::uint32_t) { accept_from(gate); }, gate.watch);
}

template <class Act>
void Relay::for_each_connection(Act act) {
  std::vector<std::uint64_t> ids;
  for (const auto& [id, connection] : state_.connections) ids.push_back(id);
  for (const auto id : ids)
    if (auto* connection = state_.find(id)) act(*connection);
}

Status Relay::apply(RelaySettings settings) {
  HARN_TRY(rules, policy::EgressRules::make(settings.rules));
  state_.rules = std::move(rules);
  state_.settings.rules = std::move(settings.rules);
  state_.settings.nameservers = std::move(settings.nameservers);
  state_.settings.hosts = std::move(settings.hosts);
  state_.settings.limits = settings.limits;
  state_.free_bytes = 0;
  for_each_connection([](Connection& connection) { connection.reconsider(); });
  return {};
}

void Relay::accept_from(Gate& gate) {
  for (int i = 0; i < accepts_in_turn; ++i) {
    sockaddr_storage peer = {};
    auto client = accept_client(gate.socket.get(), &peer);
    if (client && gate.note.kind == sys::GateKind::announced) announced_.arrived(std::move(client), peer);
    else if (client) take(gate, std::move(client));
    else if (out_of_room(errno)) return make_room(gate);
    else if (errno == EAGAIN || errno == EWOULDBLOCK) return;
  }
}

// A client nobody can serve learns it at once instead of waiting.
void Relay::make_room(Gate& gate) {
  spare_ = {};
  reset_connection(accept_client(gate.socket.get()));
  spare_ = sys::UniqueFd(::fcntl(0, F_DUPFD_CLOEXEC, 3));
  state_.ledger.deny("connect", "a connection", "there are too many connections at one time", "");
}

bool Relay::has_room() {
  if (state_.connections.size() < state_.settings.limits.connections) return true;
  state_.ledger.deny("connect", "a connection", "there are too many connections at one time", "");
  return false;
}

// The proxy has no port of its own here, and neither has the resolver: they are where a command looks for them.
void Relay::lead(sys::UniqueFd client, const Endpoint& wanted) {
  if (!has_room()) return reset_connection(std::move(client));
  const auto range = policy::special_range(wanted.address);
  if (range && range->loopback && wanted.port == state_.settings.proxy_port)
    return Connection::begin(state_, std::move(client), Connection::Kind::proxy, wanted.port);
  if (wanted.port == dns_port && state_.rules.decide_address(wanted.address, wanted.port) != policy::Verdict::allowed)
    return DnsStream::begin(state_, dns_, std::move(client));
  Connection::begin_to(state_, std::move(client), wanted);
}

void Relay::take(const Gate& gate, sys::UniqueFd client) {
  if (!has_room()) return reset_connection(std::move(client));
  if (gate.note.kind == sys::GateKind::dns_tcp) return DnsStream::begin(state_, dns_, std::move(client));
  if (gate.note.kind == sys::GateKind::published)
    return Connection::begin(state_, std::move(client), Connection::Kind::published, gate.note.port);
  const auto wanted = destination_of(client.get());
  const auto range = wanted ? policy::special_range(wanted->address) : std::nullopt;
  const bool proxy = gate.note.port == state_.settings.proxy_port && range && range->loopback;
  Connection::begin(state_, std::move(client), proxy ? Connection::Kind::proxy : Connection::Kind::direct, gate.note.port);
}

// Whoever asked may be gone by now, and its number is nobody else's.
void Relay::answer(std::uint64_t question, bool allowed) {
  if (auto* connection = state_.find(question)) connection->answered(allowed);
}

void Relay::turn() {
  const bool idle = state_.connections.empty() && !state_.lookup.busy() && !announced_.busy();
  state_.loop.turn(idle ? rest : tick_every);
  if (state_.loop.now() < next_tick_) return;
  next_tick_ = state_.loop.now() + tick_every;
  state_.lookup.tick();
  announced_.tick();
  for_each_connection([](Connection& connection) { connection.tick(); });
}

}  // namespace harn::egress
