// SPDX-License-Identifier: Apache-2.0
// Whatever a policy grants and wherever dotfiles lead: a built-in credential that nobody lifted is
// closed, with everything in it and everything it is a link to. The rules leave out secrets that no
// grant comes near, so this asks for every one of them.
#include <gtest/gtest.h>

#include <algorithm>

#include "harn/policy_text.h"
#include "policy/presets.h"
#include "support/generate.h"

namespace harn::test {
namespace {

constexpr int cases = 1'000;
constexpr const char* homes[] = {"/home/u", "/home/u/inner", "/w", "/", "/root"};

std::vector<AbsPath> closed_credentials(const Policy& policy, const HostFacts& facts) {
  const auto& named = entries(policy.process_sandbox.credentials);
  std::vector<AbsPath> closed;
  for (const auto& credential : policy::credential_paths(facts)) {
    const bool lifted = std::find(named.begin(), named.end(), credential.path) != named.end() ||
                        (credential.package_token && policy.exposes_package_tokens());
    if (!lifted) closed.push_back(credential.path);
  }
  return closed;
}

// Some secrets lifted, some links between the homes, grants above and beneath secrets.
void add_oddities(Random& random, Policy& policy, HostFacts& facts) {
  facts.home = AbsPath::of(homes[random.below(std::size(homes))]);
  if (random.chance(50)) facts.account_home = AbsPath::of(homes[random.below(std::size(homes))]);
  const auto all = policy::credential_paths(facts);
  policy.process_sandbox.credentials.emplace();
  policy.process_sandbox.read_roots.emplace();
  for (int i = 0; i < 4; ++i) {
    policy.process_sandbox.credentials->push_back(random.pick(all).path);
    const auto& from = random.chance(50) ? policy.process_sandbox.credentials->back() : random.pick(all).path;
    facts.paths[from.text()] = {.kind = PathKind::file, .link_target = random.pick(all).path.join("linked")};
    if (random.chance(30)) policy.process_sandbox.read_roots->push_back(random.pick(all).path.join("granted"));
  }
  if (random.chance(30)) policy.process_sandbox.read_roots->push_back(facts.home);
}

TEST(CredentialLaws, WhatNobodyLiftedIsClosed) {
  Random random(1);
  for (int i = 0; i < cases; ++i) {
    auto facts = random_facts(random, Platform::linux);
    auto policy = random_policy(random);
    add_oddities(random, policy, facts);
    const auto rules = PathRules::for_processes(policy, facts);
    for (const auto& path : closed_credentials(policy, facts)) {
      for (const auto& place : {path, path.join("inside"), path.join("linked"), path.join("granted/deeper")})
        ASSERT_EQ(rules.access(place), Access::none) << i << ' ' << place.text() << '\n' << policy_to_json(policy);
      const auto fact = facts.paths.find(path.text());
      if (fact == facts.paths.end() || !fact->second.link_target) continue;
      ASSERT_EQ(rules.access(*fact->second.link_target), Access::none) << i << ' ' << path.text() << '\n' << policy_to_json(policy);
    }
  }
}

}  // namespace
}  // namespace harn::test
