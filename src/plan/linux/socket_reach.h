// SPDX-License-Identifier: Apache-2.0
// Which Unix sockets a command can be given without handing it the services of the host. Named
// sockets are files whose mode, not mount, decides who connects; abstract ones are no files at all.
// Either something keeps the outside ones away, or only connected pairs are allowed.
#pragma once

#include <string>
#include <vector>

#include "plan/linux/network_reach.h"
#include "plan/lower.h"

namespace harn::plan {

struct SocketReach {
  bool full = false;             // socket(AF_UNIX), bind, connect; otherwise connected pairs only
  bool private_network = false;  // abstract names need a network namespace to be kept apart
  bool supervised = false;       // full, and the supervisor connects: to sockets the policy names, and to the command's own
  bool no_datagrams = false;     // full but for datagrams: their every message would have to be asked about
  bool abstract_open = false;    // full, though abstract sockets of the host can be reached
  // Full, though a server outside that listens beneath these can be reached.
  std::vector<AbsPath> exposed = {};  // places where services put their sockets
  std::vector<AbsPath> granted = {};  // roots the policy names
  std::string note = {};              // what is refused that a program might expect; may be empty

  bool operator==(const SocketReach&) const = default;
};

SocketReach socket_reach(const PlanInput& input, NetworkReach reach, bool supervised_network = false);

}  // namespace harn::plan
