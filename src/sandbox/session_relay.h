// SPDX-License-Identifier: Apache-2.0
// The relay of a session that is kept: started when hosts are first named, told of others while commands run, and ended by the
// end of the session's keeper. Whoever runs a command there looks on meanwhile.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "egress/ledger.h"
#include "harn/sandbox.h"
#include "run/kept.h"

namespace harn::sandbox {

inline constexpr run::SocketName relay_socket = {.name = "relay", .type = SOCK_SEQPACKET};

// Where a relay hears its owner.
struct RelayAddress {
  AbsPath directory = {};
  std::string secret = {};
  run::SocketName socket = relay_socket;
};

class RelayLink {
 public:
  // The error's os_error is ECONNREFUSED or ENOENT where there is no relay.
  static Result<RelayLink> open(const RelayAddress& address);

  // Ports at which it waits inside.
  Result<std::vector<std::uint16_t>> served();
  // Nothing of the plan's may be reached any more when this returns that is not in it.
  Status apply(const std::optional<EgressPlan>& egress, const std::vector<std::string>& nameservers);
  // From here on what happens is kept for report().
  Status watch();
  // What was seen, into the outcome.
  void report(Outcome& outcome) const;
  // Says that it is over; returns when it is.
  void end() const;
  // Returns when it has ended by itself, or after a while.
  void await_end() const;
  int channel() const { return channel_.get(); }

 private:
  explicit RelayLink(sys::UniqueFd channel) : channel_(std::move(channel)) {}
  Result<std::string> ask(std::string_view question, int descriptor = -1);

  sys::UniqueFd channel_;
};

struct SessionRelay {
  RelayAddress address = {};
  pid_t keeper = -1;
  const Plan& plan;  // of the session with the hosts that are named now
  std::vector<std::string> nameservers = {};
};
// Started where it is not there. When this fails, the relay may be gone and nothing is reached, but nobody reaches more than before.
Status name_hosts(const SessionRelay& relay);

}  // namespace harn::sandbox
