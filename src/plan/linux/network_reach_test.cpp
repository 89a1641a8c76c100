// SPDX-License-Identifier: Apache-2.0
#include "plan/linux/network_reach.h"

#include <gtest/gtest.h>

namespace harn::plan {
namespace {

TEST(NetworkReach, FoldsLevelModeHostsAndLoopback) {
  const std::vector<HostRule> host = {{.host = "example.org"}};
  const struct {
    SideEffectLevel level;
    std::optional<Network> network;
    NetworkReach expected;
  } table[] = {
      {SideEffectLevel::process_exec, {}, NetworkReach::none},
      {SideEffectLevel::network, {}, NetworkReach::none},
      {SideEffectLevel::process_exec, Network{.loopback = true}, NetworkReach::loopback},
      {SideEffectLevel::network, Network{.loopback = true}, NetworkReach::loopback},
      {SideEffectLevel::network, Network{.allowed_hosts = host}, NetworkReach::restricted},
      {SideEffectLevel::network, Network{.allowed_hosts = host, .loopback = true}, NetworkReach::restricted},
      {SideEffectLevel::process_exec, Network{.allowed_hosts = host}, NetworkReach::none},
      {SideEffectLevel::network, Network{.mode = NetworkMode::unrestricted}, NetworkReach::unrestricted},
      {SideEffectLevel::process_exec, Network{.mode = NetworkMode::unrestricted}, NetworkReach::none},
  };
  for (const auto& row : table) {
    Policy policy;
    policy.side_effect_level = row.level;
    policy.network = row.network;
    EXPECT_EQ(network_reach(policy), row.expected) << (&row - table);
  }
}

}  // namespace
}  // namespace harn::plan
