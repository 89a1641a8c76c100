// SPDX-License-Identifier: Apache-2.0
// The same resolver over TCP, for programs that prefer it: each message behind its length.
#pragma once

#include <memory>
#include <string>

#include "egress/dns_server.h"

namespace harn::egress {

class DnsStream : public std::enable_shared_from_this<DnsStream> {
 public:
  // Lives until the client closes or says something wrong.
  static void begin(RelayState& state, DnsServer& server, sys::UniqueFd client);
  DnsStream(RelayState& state, DnsServer& server, sys::UniqueFd client);
  ~DnsStream();
  DnsStream(const DnsStream&) = delete;
  DnsStream& operator=(const DnsStream&) = delete;

 private:
  void read();
  void send(const Bytes& message);
  void end();

  RelayState& state_;
  DnsServer& server_;
  sys::UniqueFd client_;
  EventLoop::Watch watch_ = {};
  std::string heard_ = {};
};

}  // namespace harn::egress
