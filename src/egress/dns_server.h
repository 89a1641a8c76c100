// SPDX-License-Identifier: Apache-2.0
// The resolver confined programs find at every address. It answers admitted names with addresses of our
// own and everything else with "no such name"; only admitted names are ever asked about outside.
#pragma once

#include <sys/socket.h>

#include <functional>

#include "egress/dns_message.h"
#include "egress/relay_state.h"

namespace harn::egress {

class DnsServer {
 public:
  explicit DnsServer(RelayState& state) : state_(state) {}

  using Send = std::function<void(const Bytes& message)>;
  // Answers now or later; not at all where no answer could be addressed.
  void answer(ByteView message, Send send);

  // Unset: everybody who reaches the socket.
  using Admits = std::function<bool(const sockaddr_storage& peer)>;
  void serve_udp(sys::UniqueFd socket, Admits admits = {});

 private:
  void read_udp();
  void answer_question(DnsQuestion question, Send send);
  void answer_asked(const DnsQuestion& question, const Send& send);
  void answer_resolved(const DnsQuestion& question, const Resolved& resolved, const Send& send);

  RelayState& state_;
  Admits admits_ = {};
  sys::UniqueFd udp_ = {};
  EventLoop::Watch watch_ = {};
};

}  // namespace harn::egress
