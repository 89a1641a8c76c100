// SPDX-License-Identifier: Apache-2.0
// Resolves admitted names with the host's resolver, never with libc: a static binary has no name
// service, and what is dialled must be exactly what was decided about. Answers are kept for as long as they
// say; whoever dials asks again and checks again.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "egress/dns_message.h"
#include "egress/event_loop.h"
#include "egress/settings.h"

namespace harn::egress {

struct Resolved {
  std::vector<policy::IpBlock> addresses = {};
  std::vector<std::string> aliases = {};
  bool exists = true;   // false: there is no such name
  bool failed = false;  // nobody answered; nothing is known
};

class Lookup {
 public:
  using Answer = std::function<void(const Resolved&)>;

  Lookup(EventLoop& loop, const RelaySettings& settings);
  ~Lookup();
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

  // Answers at once where the answer is known. The name is canonical and admitted.
  void resolve(const std::string& name, Answer answer);
  // Gives up on what takes too long; called every now and then.
  void tick();
  bool busy() const { return !pending_.empty(); }

 private:
  struct Pending;
  struct Kept {
    Resolved resolved = {};
    Clock::time_point until = {};
  };
  bool ask(Pending& pending);
  void take(const std::string& name);
  void try_next(Pending& pending);
  void finish(const std::string& name, Resolved resolved, std::uint32_t ttl);

  EventLoop& loop_;
  const RelaySettings& settings_;
  std::map<std::string, std::unique_ptr<Pending>> pending_;
  std::map<std::string, Kept> kept_ = {};
};

}  // namespace harn::egress
