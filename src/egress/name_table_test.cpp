// SPDX-License-Identifier: Apache-2.0
#include "egress/name_table.h"

#include <gtest/gtest.h>

namespace harn::egress {
namespace {

policy::EgressRules rules(std::vector<HostRule> allow) { return *policy::EgressRules::make({.allow = std::move(allow)}); }

TEST(NameTable, AnAddressLeadsBackToItsNameAndNoOther) {
  NameTable table(rules({}));
  const auto a = *table.addresses_of("a.org");
  const auto b = *table.addresses_of("b.org");
  EXPECT_NE(a.v4, b.v4);
  EXPECT_EQ(table.addresses_of("a.org")->v4, a.v4);
  EXPECT_EQ(*table.name_of(a.v4), "a.org");
  EXPECT_EQ(*table.name_of(b.v6), "b.org");
  EXPECT_TRUE(table.holds("a.org"));
  EXPECT_FALSE(table.holds("c.org"));
  auto wrong = a.v6;
  wrong.bits[9] = 1;
  EXPECT_TRUE(table.is_ours(wrong));
  EXPECT_EQ(table.name_of(wrong), nullptr);
  EXPECT_EQ(table.name_of(*policy::parse_ipv4("198.18.0.1")), nullptr);
  EXPECT_EQ(table.name_of(*policy::parse_ipv4("198.18.255.255")), nullptr);
  EXPECT_EQ(table.name_of(*policy::parse_ipv4("8.8.8.8")), nullptr);
  EXPECT_FALSE(table.is_ours(*policy::parse_ipv4("198.19.0.1")));
}

TEST(NameTable, KeepsOutOfRangesARuleMeans) {
  NameTable table(rules({{"198.18.7.0/24", {}}, {"fd68:6172:6e00::1", {}}}));
  EXPECT_EQ(policy::print_ip(table.addresses_of("a.org")->v4), "198.19.1.0");
  EXPECT_EQ(policy::print_ip(table.addresses_of("a.org")->v6), "fd68:6172:6e01::100");
  EXPECT_FALSE(table.is_ours(*policy::parse_ipv4("198.18.7.7")));
}

TEST(NameTable, EndsWhenTheRangeDoes) {
  NameTable table(rules({}));
  std::size_t given = 0;
  for (int i = 0; i < 70000; ++i) given += table.addresses_of(std::to_string(i) + ".x.org") ? 1 : 0;
  EXPECT_EQ(given, 65536u - 256);
  EXPECT_EQ(*table.name_of(*policy::parse_ipv4("198.18.255.255")), "65279.x.org");
}

}  // namespace
}  // namespace harn::egress
