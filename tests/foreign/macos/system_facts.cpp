// SPDX-License-Identifier: Apache-2.0
// macOS as far as harn asks, where its applier runs on Linux.
#include "host/system_facts.h"

namespace harn::host {

void add_system_facts(const ProbeRequest& request, HostFacts& facts) {
  facts.platform = Platform::macos;
  if (request.os_name) facts.os_version = "macOS, played by Linux";
}

}  // namespace harn::host
