// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "host/system_facts.h"
#include "sys/files.h"

namespace harn::host {
namespace {

constexpr std::size_t longest_table = 1u << 20;

}  // namespace

// Read by hand: a static binary must not load the name service's libraries.
std::optional<AbsPath> account_home(std::uint32_t uid) {
  const auto text = sys::read_file(AbsPath::of("/etc/passwd"), longest_table);
  if (!text) return std::nullopt;
  const auto wanted = std::to_string(uid);
  for (const auto line : base::split(*text, '\n')) {
    const auto fields = base::split(line, ':');
    if (fields.size() < 7 || fields[2] != wanted) continue;
    if (auto path = AbsPath::parse(fields[5])) return std::move(*path);
  }
  return std::nullopt;
}

std::optional<std::string> boot_name() {
  const auto text = sys::read_file(AbsPath::of("/proc/sys/kernel/random/boot_id"), longest_table);
  if (!text) return std::nullopt;
  return std::string(base::trim(*text));
}

}  // namespace harn::host
