// SPDX-License-Identifier: Apache-2.0
#include "egress/proxy.h"

#include <errno.h>

#include "egress/connection.h"
#include "egress/relay_state.h"
#include "egress/socket_address.h"
#include "egress/sockets.h"

namespace harn::egress {
namespace {

constexpr int accepts_in_turn = 64;
constexpr std::chrono::milliseconds tick_every{100};
constexpr std::chrono::milliseconds rest{60'000};

void accept_from(RelayState& state, int listener) {
  for (int i = 0; i < accepts_in_turn; ++i) {
    auto client = accept_client(listener);
    if (!client) return;
    if (state.connections.size() < state.settings.limits.connections) {
      Connection::begin(state, std::move(client), Connection::Kind::proxy, state.settings.proxy_port);
      continue;
    }
    state.ledger.deny("connect", "a connection", "there are too many connections at one time", "");
    reset_connection(std::move(client));
  }
}

void tick(RelayState& state) {
  state.lookup.tick();
  std::vector<std::uint64_t> ids;
  for (const auto& [id, connection] : state.connections) ids.push_back(id);
  for (const auto id : ids)
    if (auto* connection = state.find(id)) connection->tick();
}

}  // namespace

std::vector<std::string> serve_proxy(RelaySettings settings, sys::UniqueFd listener, int lifeline) {
  auto rules = policy::EgressRules::make(settings.rules);
  auto loop = EventLoop::make();
  if (!rules || !loop) return {};
  RelayState state(*loop, std::move(settings), std::move(*rules));
  bool ended = false;
  EventLoop::Watch clients;
  EventLoop::Watch launcher;
  const auto take = [&](std::uint32_t) { accept_from(state, listener.get()); };
  const auto end = [&](std::uint32_t) { ended = true; };
  if (!loop->watch(listener.get(), event_in, take, clients) || !loop->watch(lifeline, event_in, end, launcher)) return {};
  auto next_tick = loop->now();
  while (!ended) {
    loop->turn(state.connections.empty() && !state.lookup.busy() ? rest : tick_every);
    if (loop->now() < next_tick) continue;
    next_tick = loop->now() + tick_every;
    tick(state);
  }
  return state.ledger.lines();
}

}  // namespace harn::egress
