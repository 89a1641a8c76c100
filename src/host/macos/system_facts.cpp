// SPDX-License-Identifier: Apache-2.0
#include "host/system_facts.h"

#include <sys/sysctl.h>

#include <string>

namespace harn::host {
namespace {

std::string system_word(const char* name) {
  char text[256] = {};
  std::size_t size = sizeof text - 1;
  return ::sysctlbyname(name, text, &size, nullptr, 0) == 0 ? std::string(text) : std::string();
}

}  // namespace

// Whether sandbox-exec confines is tried before a run (foreign/macos/prove.cpp).
void add_system_facts(const ProbeRequest& request, HostFacts& facts) {
  facts.platform = Platform::macos;
  if (request.os_name) facts.os_version = "macOS " + system_word("kern.osproductversion");
}

}  // namespace harn::host
