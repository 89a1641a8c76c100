// SPDX-License-Identifier: Apache-2.0
// Where the owner of a relay that others share speaks to it: new rules while connections are open, more gates, and what is
// seen during one command. Each connection begins with a secret: that its socket can be reached proves nothing.
//
//   SECRET              nothing is answered; a wrong one ends the connection
//   rules + a file      settings (egress/settings.h); "done", or "wrong" and why
//   gates               as a launcher sends them; nothing is answered
//   served              "served" and the ports at which somebody waits inside
//   watch               "watching"; when the owner has said all, the lines of a report come, from here to there
//   end                 the relay ends
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "egress/channel.h"
#include "egress/event_loop.h"
#include "egress/ledger.h"
#include "egress/settings.h"

namespace harn::egress {

class Control {
 public:
  struct Deeds {
    std::function<Status(RelaySettings settings)> apply = {};
    std::function<void(ReceivedGate gate)> add_gate = {};
    std::function<std::vector<std::uint16_t>()> served = {};
    std::function<void()> end = {};
  };
  Control(EventLoop& loop, Ledger& ledger, Deeds deeds) : loop_(loop), ledger_(ledger), deeds_(std::move(deeds)) {}
  ~Control();
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  void listen_on(sys::UniqueFd listener, std::string secret);

 private:
  struct Peer {
    sys::UniqueFd socket = {};
    EventLoop::Watch watch = {};
    bool known = false;  // said the secret
    bool said_all = false;
    std::unique_ptr<Ledger> seen = {};
    std::deque<std::string> answers = {};  // not sent yet
  };
  void accept_all();
  void hear(std::uint64_t id);
  void end_watching(Peer& peer);
  bool obey(Peer& peer, Message message);
  void apply(Peer& peer, Message message);
  bool send_answers(Peer& peer);
  void drop(std::uint64_t id);

  EventLoop& loop_;
  Ledger& ledger_;
  Deeds deeds_;
  sys::UniqueFd listener_ = {};
  EventLoop::Watch watch_ = {};
  std::string secret_ = {};
  std::map<std::uint64_t, std::unique_ptr<Peer>> peers_ = {};
  std::uint64_t next_ = 1;
};

// What a file holds, from its beginning; settings come that way.
std::string read_from_start(int fd);

}  // namespace harn::egress
