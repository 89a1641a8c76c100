// SPDX-License-Identifier: Apache-2.0
// Hosts, a quiet policy and readable coverage for tests of the native Linux backend.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plan/lower.h"
#include "plan/names.h"

namespace harn::test {

inline HostFacts modern_host() {
  HostFacts facts;
  facts.home = AbsPath::of("/home/u");
  facts.unlisted = PathKind::directory;
  facts.linux = {.landlock_abi = 9, .seccomp = true, .user_namespaces = true, .pid_namespaces = true, .network_namespaces = true};
  return facts;
}

inline HostFacts without_namespaces(int abi) {
  auto facts = modern_host();
  facts.linux = {.landlock_abi = abi, .seccomp = true};
  return facts;
}

// No presets and no existing protected names: every gap in a test comes from what the test names.
inline Policy quiet_policy() {
  Policy policy;
  policy.workspace_roots = {AbsPath::of("/w")};
  policy.unprotect = {AbsPath::of("/w")};
  policy.process_sandbox.presets.emplace();
  return policy;
}

inline Result<Plan> try_lower(const Policy& policy, const HostFacts& facts, bool explain = false) {
  const auto rules = PathRules::for_processes(policy, facts);
  const Command command;
  Plan plan;
  HARN_OK(plan::lower_linux({.policy = policy, .command = command, .facts = facts, .rules = rules, .explain = explain}, plan));
  return plan;
}

inline Plan lowered(const Policy& policy, const HostFacts& facts, bool explain = false) {
  auto plan = try_lower(policy, facts, explain);
  EXPECT_TRUE(plan) << plan.error().message;
  return plan ? std::move(*plan) : Plan{};
}

inline const LinuxConfinement& confinement(const Plan& plan) { return std::get<LinuxConfinement>(plan.confinement); }

// "enforced view landlock" for one dimension.
inline std::string text_of(const Coverage& coverage, Dimension dimension) {
  std::string out(base::enum_name(coverage[dimension].status));
  for (const auto& layer : coverage[dimension].layers) out += " " + layer;
  return out;
}

inline std::vector<std::string> codes(const Coverage& coverage, Dimension dimension) {
  std::vector<std::string> out;
  for (const auto& gap : coverage.gaps)
    if (gap.dimension == dimension) out.push_back(gap.code);
  return out;
}

}  // namespace harn::test
