// SPDX-License-Identifier: Apache-2.0
#include "policy/egress_environment.h"

#include <gtest/gtest.h>

namespace harn::policy {
namespace {

TEST(EgressEnvironment, NothingSetSaysNothing) { EXPECT_EQ(parse_egress_environment({{"HOME", "/"}}), EgressEnvironment{}); }

TEST(EgressEnvironment, EveryVariableIsRead) {
  const auto got = parse_egress_environment({{"HARN_EGRESS_ALLOW", "a.org, *.b.org:443;\n10.0.0.0/8,"},
                                             {"HARN_EGRESS_DENY", "evil.b.org"},
                                             {"HARN_EGRESS_DEFAULT", "deny"},
                                             {"HARN_EGRESS_BLOCK_PRIVATE", "off"},
                                             {"HARN_EGRESS_ALLOW_LOOPBACK", "true"}});
  const EgressEnvironment expected{.allow = {{"a.org", {}}, {"*.b.org", std::uint16_t{443}}, {"10.0.0.0/8", {}}},
                                   .deny = {{"evil.b.org", {}}},
                                   .block_private = false,
                                   .allow_loopback = true,
                                   .default_deny = true};
  EXPECT_EQ(got, expected);
  for (const auto* word : {"private", "on", "block", "block_private", "true", "TRUE"})
    EXPECT_TRUE(parse_egress_environment({{"HARN_EGRESS_BLOCK_PRIVATE", word}})->block_private) << word;
  for (const auto* word : {"off", "false", "none"})
    EXPECT_FALSE(parse_egress_environment({{"HARN_EGRESS_BLOCK_PRIVATE", word}})->block_private) << word;
}

TEST(EgressEnvironment, MistakesAreErrorsThatNameTheVariable) {
  for (const auto& [name, value] : std::map<std::string, std::string>{{"HARN_EGRESS_ALLOW", "a.org,*"},
                                                                      {"HARN_EGRESS_DENY", "0x7f.1"},
                                                                      {"HARN_EGRESS_DEFAULT", "allow"},
                                                                      {"HARN_EGRESS_BLOCK_PRIVATE", "maybe"},
                                                                      {"HARN_EGRESS_ALLOW_LOOPBACK", ""}}) {
    const auto got = parse_egress_environment({{name, value}});
    ASSERT_FALSE(got) << name;
    EXPECT_TRUE(got.error().message.starts_with(name)) << got.error().message;
    EXPECT_FALSE(got.error().hint.empty());
  }
}

}  // namespace
}  // namespace harn::policy
