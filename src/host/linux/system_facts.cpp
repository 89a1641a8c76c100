// SPDX-License-Identifier: Apache-2.0
#include "host/system_facts.h"

#include "base/text.h"
#include "host/linux/kernel_facts.h"
#include "host/programs.h"
#include "sys/files.h"

namespace harn::host {
namespace {

constexpr std::size_t longest_table = 1u << 20;

std::string os_version() {
  const auto text = sys::read_file(AbsPath::of("/etc/os-release"), longest_table);
  static constexpr std::string_view key = "PRETTY_NAME=";
  if (!text) return {};
  for (const auto line : base::split(*text, '\n')) {
    if (!line.starts_with(key)) continue;
    auto name = line.substr(key.size());
    if (name.size() >= 2 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
    return std::string(name);
  }
  return {};
}

}  // namespace

void add_system_facts(const ProbeRequest& request, HostFacts& facts) {
  facts.platform = Platform::linux;
  if (request.os_name) facts.os_version = os_version();
  facts.linux = request.kernel_claims ? kernel_facts(facts.uid) : kernel_name();
  facts.tools = find_programs();
}

}  // namespace harn::host
