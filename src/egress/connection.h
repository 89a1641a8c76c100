// SPDX-License-Identifier: Apache-2.0
// One connection of a confined program, from where it wanted to go to the last byte: decide, resolve,
// check what came out, dial exactly that, then move bytes both ways until both have ended.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "egress/relay_state.h"
#include "egress/socket_address.h"

namespace harn::egress {

class Connection {
 public:
  enum class Kind : std::uint8_t {
    direct,     // to a name or an address the program dialled itself
    proxy,      // says in SOCKS5 or HTTP where it wants to go
    published,  // from outside, to a port of the sandbox
  };

  // Takes the accepted socket. It is the map's from then on, and leaves it by itself.
  static void begin(RelayState& state, sys::UniqueFd client, Kind kind, std::uint16_t port);
  // One whose own address does not say where it wanted to go.
  static void begin_to(RelayState& state, sys::UniqueFd client, const Endpoint& wanted);

  Connection(RelayState& state, std::uint64_t id, sys::UniqueFd client, Kind kind);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // The operator's word on where it wants to go.
  void answered(bool allowed);
  // The rules are others now: what they do not admit any more is closed.
  void reconsider();
  // Ends what takes too long or says nothing any more.
  void tick();

 private:
  enum class Stage : std::uint8_t {
    asking,   // a proxy client has not said yet where it wants to go
    waiting,  // for the operator's word
    resolving,
    dialling,
    open,
    ended
  };
  enum class Speech : std::uint8_t {
    none,
    unknown,
    socks_greeting,
    socks_password,
    socks_request,
    http
  };
  enum class Failure : std::uint8_t {
    refused,      // by the rules
    unreachable,  // nobody there
  };

  bool watch_client();
  void start(std::uint16_t port);
  void start_direct();
  policy::Verdict judged_again() const;
  void go_to_address(const Endpoint& wanted);
  void start_published(std::uint16_t port);
  void on_client(std::uint32_t events);
  void on_upstream(std::uint32_t events);
  void listen_to_proxy_client();
  bool hear_socks();
  bool hear_http();
  template <class Step>
  bool obey(const Step& step);
  void go_to(policy::Destination destination, std::uint16_t port);
  void admit();
  void take_addresses(const Resolved& resolved);
  void refuse(const policy::Destination& destination, policy::Verdict verdict);
  void dial_next();
  bool dial(const policy::IpBlock& address);
  void opened();
  void pump();
  void count();
  void fail(Failure failure);
  void say(std::string_view bytes);
  void end(bool reset);

  RelayState& state_;
  const std::uint64_t id_;
  const Kind kind_;
  Stage stage_ = Stage::asking;
  Speech speech_ = Speech::none;
  std::string heard_ = {};  // of a proxy client, not yet understood
  policy::Destination destination_ = {};
  std::uint16_t port_ = 0;
  std::vector<policy::IpBlock> candidates_ = {};
  std::size_t next_candidate_ = 0;
  std::vector<std::string> aliases_ = {};  // of the name, on the way to its addresses
  Contact* contact_ = nullptr;
  sys::UniqueFd client_ = {};
  sys::UniqueFd upstream_ = {};
  EventLoop::Watch client_watch_ = {};
  EventLoop::Watch upstream_watch_ = {};
  Stream up_ = {};
  Stream down_ = {};
  std::uint64_t counted_up_ = 0;
  std::uint64_t counted_down_ = 0;
  bool up_broken_ = false;
  bool pumping_soon_ = false;
  bool wants_v6_ = false;
  Clock::time_point since_ = {};   // of the stage
  Clock::time_point active_ = {};  // the last byte
};

}  // namespace harn::egress
