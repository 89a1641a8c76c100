// SPDX-License-Identifier: Apache-2.0
#include "policy/egress_rules.h"

#include <gtest/gtest.h>

#include "policy/hosts.h"

namespace harn::policy {
namespace {

std::vector<HostRule> rules_of(const std::vector<std::string>& texts) {
  std::vector<HostRule> out;
  for (const auto& text : texts) out.push_back(parse_host_rule(text).value_or(HostRule{}));
  return out;
}

EgressRules rules(const std::vector<std::string>& allow, const std::vector<std::string>& deny = {}, EgressOptions options = {}) {
  options.allow = rules_of(allow);
  options.deny = rules_of(deny);
  auto made = EgressRules::make(options);
  EXPECT_TRUE(made);
  return made.value_or(EgressRules{});
}

Verdict decide(const EgressRules& rules, std::string_view host, std::uint16_t port) {
  const auto destination = parse_destination(host);
  if (!destination) return Verdict::no_rule;
  return destination->name.empty() ? rules.decide_address(destination->address, port) : rules.decide_name(destination->name, port);
}

TEST(EgressRules, NamesAreAdmittedByMeaningAndPort) {
  const auto some = rules({"example.org:443", "*.wild.org", "plain.net"});
  EXPECT_EQ(decide(some, "example.org", 443), Verdict::allowed);
  EXPECT_EQ(decide(some, "EXAMPLE.org.", 443), Verdict::allowed);
  EXPECT_EQ(decide(some, "example.org", 80), Verdict::no_rule);
  EXPECT_EQ(decide(some, "a.example.org", 443), Verdict::no_rule);
  EXPECT_EQ(decide(some, "xexample.org", 443), Verdict::no_rule);
  EXPECT_EQ(decide(some, "example.org.evil.net", 443), Verdict::no_rule);
  EXPECT_EQ(decide(some, "a.wild.org", 1), Verdict::allowed);
  EXPECT_EQ(decide(some, "a.b.wild.org", 65535), Verdict::allowed);
  EXPECT_EQ(decide(some, "wild.org", 443), Verdict::no_rule);
  EXPECT_EQ(decide(some, "evilwild.org", 443), Verdict::no_rule);
  EXPECT_EQ(decide(some, "xn--exmple-cua.org", 443), Verdict::no_rule);
  EXPECT_EQ(decide(some, "1.1.1.1", 443), Verdict::no_rule);
  EXPECT_EQ(some.decide_lookup("example.org"), Verdict::allowed);
  EXPECT_EQ(some.decide_lookup("x.plain.net"), Verdict::no_rule);
}

TEST(EgressRules, DenialsAndBlockedPortsComeFirst) {
  const auto some =
      rules({"*.x.org", "y.org:25", "8.8.0.0/16"}, {"evil.x.org", "y.org", "8.8.4.0/24", "a.x.org:80"}, {.blocked_ports = {25}});
  EXPECT_EQ(decide(some, "good.x.org", 443), Verdict::allowed);
  EXPECT_EQ(decide(some, "evil.x.org", 443), Verdict::denied);
  EXPECT_EQ(decide(some, "good.x.org", 25), Verdict::blocked_port);
  EXPECT_EQ(decide(some, "a.x.org", 80), Verdict::denied);
  EXPECT_EQ(decide(some, "a.x.org", 443), Verdict::allowed);
  EXPECT_EQ(decide(some, "8.8.8.8", 53), Verdict::allowed);
  EXPECT_EQ(decide(some, "8.8.4.4", 53), Verdict::denied);
  EXPECT_EQ(some.decide_resolved(*parse_ipv4("8.8.4.4"), 443), Verdict::denied);
  EXPECT_EQ(some.decide_lookup("evil.x.org"), Verdict::denied);
  EXPECT_EQ(some.decide_lookup("y.org"), Verdict::denied);
}

TEST(EgressRules, SpecialRangesNeedARuleThatNamesThem) {
  const auto wide = rules({"0.0.0.0/0", "::/0", "name.org"});
  for (const auto* address : {"127.0.0.1", "10.0.0.1", "169.254.169.254", "0.0.0.0", "::1", "fc00::1", "::ffff:10.0.0.1",
                              "64:ff9b::10.0.0.1", "2002:a00:1::", "fe80::1", "::127.0.0.1"}) {
    EXPECT_EQ(decide(wide, address, 80), Verdict::special) << address;
    EXPECT_EQ(wide.decide_resolved(parse_destination(address)->address, 80), Verdict::special) << address;
  }
  EXPECT_EQ(decide(wide, "1.1.1.1", 80), Verdict::allowed);
  EXPECT_EQ(decide(wide, "2600::1", 80), Verdict::allowed);

  const auto named = rules({"name.org", "10.1.0.0/16:5432", "127.0.0.1:8080", "fd00::/8"});
  EXPECT_EQ(decide(named, "10.1.2.3", 5432), Verdict::allowed);
  EXPECT_EQ(decide(named, "10.1.2.3", 80), Verdict::special);
  EXPECT_EQ(decide(named, "10.2.0.1", 5432), Verdict::special);
  EXPECT_EQ(named.decide_resolved(*parse_ipv4("10.1.2.3"), 5432), Verdict::allowed);
  EXPECT_EQ(decide(named, "127.0.0.1", 8080), Verdict::allowed);
  EXPECT_EQ(decide(named, "::ffff:127.0.0.1", 8080), Verdict::allowed);
  EXPECT_EQ(decide(named, "127.0.0.2", 8080), Verdict::special);
  EXPECT_EQ(decide(named, "fd00::7", 1), Verdict::allowed);
  EXPECT_EQ(named.decide_resolved(*parse_ipv4("8.8.8.8"), 443), Verdict::allowed);
}

TEST(EgressRules, OptionsOpenPrivateAndLoopbackApart) {
  const auto open = rules({"name.org", "0.0.0.0/0"}, {}, {.block_private = false});
  EXPECT_EQ(decide(open, "10.0.0.1", 80), Verdict::allowed);
  EXPECT_EQ(decide(open, "127.0.0.1", 80), Verdict::special);
  const auto loopback = rules({"name.org"}, {}, {.allow_loopback = true});
  EXPECT_EQ(decide(loopback, "127.0.0.1", 80), Verdict::allowed);
  EXPECT_EQ(loopback.decide_resolved(*parse_ipv4("127.0.0.1"), 80), Verdict::allowed);
  EXPECT_EQ(decide(loopback, "10.0.0.1", 80), Verdict::special);
}

TEST(EgressRules, LocalhostNamesItsAddresses) {
  const auto some = rules({"localhost:5432"});
  EXPECT_EQ(decide(some, "127.0.0.1", 5432), Verdict::allowed);
  EXPECT_EQ(decide(some, "::1", 5432), Verdict::allowed);
  EXPECT_EQ(decide(some, "127.0.0.1", 5433), Verdict::special);
  EXPECT_EQ(some.decide_resolved(*parse_ipv4("127.0.0.1"), 5432), Verdict::allowed);
}

TEST(EgressRules, TellFreeLabels) {
  const auto some = rules({"a.org:443", "*.b.org:8443", "*.c.b.org:1", "d.org:25"}, {}, {.blocked_ports = {25}});
  EXPECT_EQ(some.free_label_bytes("a.org"), 0u);
  EXPECT_EQ(some.free_label_bytes("xx.b.org"), 2u);
  EXPECT_EQ(some.free_label_bytes("xx.c.b.org"), 2u);
  EXPECT_TRUE(rules({"198.18.5.0/24"}).names_inside(*parse_ipv4("198.18.5.0")) == false);
  auto block = *parse_ipv4("198.18.0.0");
  block.length = 15;
  EXPECT_TRUE(rules({"198.18.5.0/24"}).names_inside(block));
  EXPECT_FALSE(rules({"0.0.0.0/0"}).names_inside(block));
}

TEST(EgressRules, OneHostIsParsedStrictly) {
  for (const auto* text : {"", "*.x.org", "10.0.0.0/8", "0x7f.1", "127.1", "2130706433", "a b", "a%2eorg", "u@a.org", "fe80::1%lo",
                           "a..org", "bücher.example", "[::1", "a.org:80"})
    EXPECT_FALSE(parse_destination(text)) << text;
  EXPECT_EQ(text_of(*parse_destination("A.Org.")), "a.org");
  EXPECT_EQ(text_of(*parse_destination("[::FFFF:1.2.3.4]")), "1.2.3.4");
  for (const auto verdict : {Verdict::allowed, Verdict::no_rule, Verdict::denied, Verdict::blocked_port, Verdict::special})
    EXPECT_GT(why(verdict).size(), 1u);
}

}  // namespace
}  // namespace harn::policy
