// SPDX-License-Identifier: Apache-2.0
#include "host/system_facts.h"

#include <sys/utsname.h>

namespace harn::host {

// pledge and unveil belong to the kernel; whether they refuse is tried before a run (foreign/openbsd/prove.cpp).
void add_system_facts(const ProbeRequest& request, HostFacts& facts) {
  facts.platform = Platform::openbsd;
  utsname name = {};
  if (!request.os_name || ::uname(&name) != 0) return;
  facts.os_version = std::string(name.sysname) + " " + name.release;
}

}  // namespace harn::host
