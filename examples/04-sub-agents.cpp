// SPDX-License-Identifier: Apache-2.0
// An agent's sub-agents get at most what the agent has: what they ask for is met with the ceiling, and the report says
// what was taken away. A third generation is not allowed here.
#include <cstdio>

#include "harn/policy.h"
#include "harn/policy_text.h"

namespace {

harn::Policy parsed(const char* toml) {
  auto policy = harn::parse_policy_toml(toml, {.home = harn::AbsPath::of("/home/agent")});
  if (!policy) std::fprintf(stderr, "%s\n", harn::describe(policy.error()).c_str());
  return policy.value_or(harn::Policy{});
}

}  // namespace

int main() {
  const auto ceiling = parsed(
      "workspace_roots = [\"/srv/project\"]\nrecursion_limit = 1\nblocked_commands = [\"curl\"]\n"
      "[limits]\nmax_memory_mb = 512\n");
  const auto asked = parsed(
      "workspace_roots = [\"/srv/project/docs\", \"/etc\"]\nside_effect_level = \"network\"\n"
      "[network]\nmode = \"unrestricted\"\n[limits]\nmax_memory_mb = 4096\n");

  for (const auto& widening : harn::within(ceiling, asked)) std::printf("asks for more: %s\n", widening.member.c_str());
  const auto met = harn::intersect(ceiling, asked);
  for (const auto& item : met.narrowing)
    if (item.lost_by == harn::Side::requested) std::printf("taken away: %s %s\n", item.member.c_str(), item.value.c_str());
  std::printf("memory: %lu MB\n", static_cast<unsigned long>(met.policy.limits.max_memory_mb.value_or(0)));

  const auto child = harn::for_nested_run(met.policy);
  const auto grandchild = child ? harn::for_nested_run(*child) : harn::Result<harn::Policy>(harn::fail({}));
  std::printf("sub-agent: %s, its own: %s\n", child ? "yes" : "no", grandchild ? "yes" : "no");
  return harn::within(ceiling, met.policy).empty() && child && !grandchild ? 0 : 1;
}
