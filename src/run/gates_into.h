// SPDX-License-Identifier: Apache-2.0
// Sockets in the network of a view that is kept, for a relay that serves them from outside. As with mounts, it takes the owner
// of the namespaces, in a process that nobody inside can name and that ends at once.
#pragma once

#include <optional>
#include <vector>

#include "run/kept.h"

namespace harn::run {

struct GatesInto {
  AbsPath directory = {};  // of the keeper's socket
  const EgressPlan& egress;
  std::optional<std::vector<std::uint16_t>> served = {};  // ports of a relay that lives; unset: it has nothing yet
  int channel = -1;                                       // borrowed; to the relay
};
Status open_gates_into(const GatesInto& request);

}  // namespace harn::run
