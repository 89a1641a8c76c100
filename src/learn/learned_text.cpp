// SPDX-License-Identifier: Apache-2.0
#include "learn/learned_text.h"

#include <fmt/format.h>

#include "base/text.h"
#include "harn/policy_text.h"

namespace harn::learn {
namespace {

constexpr std::size_t most_examples = 3;

std::string comment(std::string_view text) { return "# " + base::one_line(text) + "\n"; }

// "/opt/tool: read by cc1 and 14 more"
std::string why(const AbsPath& grant, Access access, const Needs& needs) {
  std::vector<std::string> ways;
  std::size_t paths = 0;
  for (const auto& [path, need] : needs.paths()) {
    if (!grant.contains(path) || need.access != access) continue;
    ++paths;
    if (ways.size() < most_examples && std::find(ways.begin(), ways.end(), need.how) == ways.end()) ways.push_back(need.how);
  }
  if (paths == 0) return {};
  return comment(fmt::format("{}: {}{}", grant.text(), base::join(ways, ", "), paths == 1 ? "" : fmt::format(" ({} paths)", paths)));
}

}  // namespace

std::string learned_text(const Learned& learned) {
  const auto& [policy, needs, provenance] = learned;
  std::string out = comment("Learned by 'harn learn' from " + std::to_string(provenance.runs) + " runs of: " + provenance.command);
  out += comment(provenance.proved ? "A run under exactly this policy ended as the watched ones did."
                                   : "NOT PROVED: no run under exactly this policy ended well.");
  std::string grants;
  for (const auto& path : entries(policy.workspace_roots)) grants += why(path, Access::write, needs);
  for (const auto& path : entries(policy.process_sandbox.write_roots)) grants += why(path, Access::write, needs);
  for (const auto& path : entries(policy.process_sandbox.read_roots)) grants += why(path, Access::read, needs);
  if (!grants.empty()) out += "#\n# Seen:\n" + grants;
  if (!needs.withheld().empty()) out += "#\n# Left out, although it was asked for:\n";
  for (const auto& one : needs.withheld()) out += comment(fmt::format("{} {}: {}", one.access, one.what, one.why));
  return out + "\n" + policy_to_toml(policy);
}

}  // namespace harn::learn
