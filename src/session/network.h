// SPDX-License-Identifier: Apache-2.0
// Which hosts a session may reach, from its making on and while its commands run.
#pragma once

#include "sandbox/session_relay.h"
#include "session/record.h"

namespace harn::session {

// What the wire says about the network, as members of a policy.
SandboxResult<void> allow_network(const NetworkPolicy& asked, Policy& policy);
// The same as the wire would say it, of a policy.
NetworkPolicy network_of(const Policy& policy);

// The policy the session was made with, with the network that is in force now.
SandboxResult<Policy> policy_in_force(const Record& record, Policy made);

// "none", "restricted" or "allowed".
std::string_view network_word(const NetworkPolicy& network);

// A plan of the session with this policy; nothing is done.
struct Replanned {
  Policy policy = {};  // as composed for this host
  Plan plan = {};
};
SandboxResult<Replanned> plan_again(const Record& record, Policy policy, const embed::Environment& environment);
// What later commands and their receipts are made from.
SandboxResult<void> keep_plan(const Places& places, const Plan& plan, Record& record);

// At the end of its making: where hosts are named, there is a relay when this returns.
SandboxResult<void> open_hosts(const Record& record, const Plan& plan);

// Where a relay of the session hears who knows its secret.
sandbox::RelayAddress relay_of(const Record& record);
// Its commands are refused every socket, on top of what the session's filter refuses.
bool is_closed(const Record& record, const Policy& policy);

struct NetworkChange {
  const NetworkPolicy& policy;
  const AbsPath& home;
  const embed::Environment& environment;
};
// In force when this returns: for commands that come, for those that run, and for connections that are open.
SandboxResult<Record> change_network(const Places& places, const std::string& id, const NetworkChange& change);

// Where every command has its boundary made anew: a place where its relay hears of other hosts while it runs.
class OwnControl {
 public:
  static SandboxResult<OwnControl> open(const Places& places, const Record& record);
  OwnControl(OwnControl&& other) noexcept : path_(std::exchange(other.path_, {})), listener_(std::move(other.listener_)) {}
  OwnControl& operator=(OwnControl&&) = delete;
  ~OwnControl();
  int listener() const { return listener_.get(); }

 private:
  OwnControl(AbsPath path, sys::UniqueFd listener) : path_(std::move(path)), listener_(std::move(listener)) {}
  AbsPath path_ = {};
  sys::UniqueFd listener_ = {};
};

}  // namespace harn::session
