// SPDX-License-Identifier: Apache-2.0
#include "egress/control.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <utility>

#include <fmt/format.h>

#include "egress/sockets.h"

namespace harn::egress {
namespace {

constexpr std::size_t most_peers = 1024;  // every command of a session has one
constexpr std::uint32_t heard = event_in | event_out | event_rdhup | event_edge;

// Whoever guesses learns nothing from how long the answer takes.
bool is_same(std::string_view one, std::string_view other) {
  unsigned char difference = one.size() == other.size() ? 0 : 1;
  for (std::size_t i = 0; i < one.size() && i < other.size(); ++i)
    difference = static_cast<unsigned char>(difference | (static_cast<unsigned char>(one[i]) ^ static_cast<unsigned char>(other[i])));
  return difference == 0;
}

}  // namespace

std::string read_from_start(int fd) {
  std::string text;
  std::array<char, 8192> buffer = {};
  for (off_t at = 0;;) {
    const auto got = ::pread(fd, buffer.data(), buffer.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    at += got;
  }
}

Control::~Control() {
  for (const auto& [id, peer] : peers_)
    if (peer->seen) ledger_.forget(*peer->seen);
}

void Control::listen_on(sys::UniqueFd listener, std::string secret) {
  if (secret.empty()) return;
  secret_ = std::move(secret);
  listener_ = std::move(listener);
  ::fcntl(listener_.get(), F_SETFL, O_NONBLOCK);
  std::ignore = loop_.watch(listener_.get(), event_in, [this](std::uint32_t) { accept_all(); }, watch_);
}

void Control::accept_all() {
  while (auto socket = accept_client(listener_.get())) {
    if (peers_.size() >= most_peers) continue;
    const auto id = next_++;
    auto& peer = *peers_.emplace(id, std::make_unique<Peer>()).first->second;
    peer.socket = std::move(socket);
    if (!loop_.watch(peer.socket.get(), heard, [this, id](std::uint32_t) { hear(id); }, peer.watch)) drop(id);
  }
}

void Control::hear(std::uint64_t id) {
  const auto found = peers_.find(id);
  if (found == peers_.end()) return;
  auto& peer = *found->second;
  while (!peer.said_all) {
    auto message = receive_message(peer.socket.get());
    if (message && message->none) break;
    if (message && message->ended) {
      end_watching(peer);
      continue;
    }
    if (!message || !obey(peer, std::move(*message))) return drop(id);
  }
  if (!send_answers(peer) || (peer.said_all && peer.answers.empty())) drop(id);
}

void Control::end_watching(Peer& peer) {
  peer.said_all = true;
  if (!peer.seen) return;
  ledger_.forget(*peer.seen);
  for (auto& line : peer.seen->lines()) peer.answers.push_back(std::move(line));
}

// False: it is nobody of ours, or does not know what it says.
bool Control::obey(Peer& peer, Message message) {
  if (!std::exchange(peer.known, true)) return is_same(message.bytes, secret_);
  if (message.bytes == "rules" && message.descriptors.size() == 1) {
    apply(peer, std::move(message));
    return true;
  }
  if (!message.descriptors.empty()) {
    auto gates = gates_in(std::move(message));
    if (!gates) return false;
    for (auto& gate : *gates) deeds_.add_gate(std::move(gate));
    return true;
  }
  if (message.bytes == "served") {
    std::string answer = "served";
    for (const auto port : deeds_.served()) answer += fmt::format("\t{}", port);
    peer.answers.push_back(std::move(answer));
    return true;
  }
  if (message.bytes == "watch" && !peer.seen) {
    peer.seen = std::make_unique<Ledger>();
    ledger_.tell_also(*peer.seen);
    peer.answers.emplace_back("watching");
    return true;
  }
  if (message.bytes != "end") return false;
  deeds_.end();
  return true;
}

void Control::apply(Peer& peer, Message message) {
  auto settings = parse_settings(read_from_start(message.descriptors.front().get()));
  const auto applied = settings ? deeds_.apply(std::move(*settings)) : Status(fail(std::move(settings).error()));
  peer.answers.push_back(applied ? "done" : "wrong\t" + applied.error().message);
}

// False: nobody reads them any more. Nobody is waited for either.
bool Control::send_answers(Peer& peer) {
  while (!peer.answers.empty()) {
    const auto& line = peer.answers.front();
    if (::send(peer.socket.get(), line.data(), line.size(), no_signal | MSG_DONTWAIT) < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS;
    }
    peer.answers.pop_front();
  }
  return true;
}

void Control::drop(std::uint64_t id) {
  const auto found = peers_.find(id);
  if (found == peers_.end()) return;
  if (found->second->seen) ledger_.forget(*found->second->seen);
  peers_.erase(found);
}

}  // namespace harn::egress
