// SPDX-License-Identifier: Apache-2.0
#include "egress/settings.h"

#include <gtest/gtest.h>

namespace harn::egress {
namespace {

TEST(RelaySettings, AreReadBackAsTheyWere) {
  RelaySettings settings{.rules = {.allow = {{"a.org", std::uint16_t{443}}, {"*.b.org", {}}, {"fd00::/8", std::uint16_t{1}}},
                                   .deny = {{"x.b.org", {}}},
                                   .blocked_ports = {25},
                                   .block_private = false,
                                   .allow_loopback = true},
                         .proxy_port = 3128,
                         .nameservers = {{*policy::parse_ipv4("9.9.9.9"), 53}, {*policy::parse_ipv6("::1"), 5353}},
                         .hosts = {{"box", {*policy::parse_ipv4("10.0.0.1"), *policy::parse_ipv6("fd00::1")}}},
                         .hostname = "me",
                         .limits = {.connections = 5, .bytes_per_host = 7}};
  const auto text = print_settings(settings);
  const auto read = parse_settings(text);
  ASSERT_TRUE(read) << describe(read.error());
  EXPECT_EQ(print_settings(*read), text);
  EXPECT_EQ(read->limits, settings.limits);
  EXPECT_EQ(read->nameservers, settings.nameservers);
  EXPECT_EQ(read->hosts, settings.hosts);
  EXPECT_FALSE(read->rules.block_private);
}

TEST(RelaySettings, MistakesAreErrors) {
  for (const auto* text : {"allow", "allow *\n", "allow a.org", "block x\n", "proxy 99999\n", "private maybe\n", "nameserver a.org\n",
                           "host a\n", "host a b\n", "limit connections -1\n", "limit nothing 1\n", "other 1 2\n"})
    EXPECT_FALSE(parse_settings(text)) << text;
  EXPECT_TRUE(parse_settings(""));
}

TEST(NameFiles, AreReadAsLibcDoes) {
  const auto servers = parse_resolv_conf(
      "# c\nsearch x\nnameserver 1.1.1.1 # one\n nameserver\t2001:4860::8\nnameserver fe80::1%eth0\nnameserver bad\nnameserver "
      "3.3.3.3\nnameserver 4.4.4.4\n");
  ASSERT_EQ(servers.size(), 3u);
  EXPECT_EQ(policy::print_ip(servers[2].address), "3.3.3.3");
  EXPECT_EQ(policy::print_ip(parse_resolv_conf("").at(0).address), "127.0.0.1");
  const auto hosts = parse_hosts_file("127.0.0.1 localhost\n10.0.0.1\tBox box.lan # x\nbad name\n10.0.0.2 box\n10.0.0.3\n");
  EXPECT_EQ(hosts.at("box").size(), 2u);
  EXPECT_EQ(hosts.at("box.lan").size(), 1u);
  EXPECT_EQ(hosts.size(), 3u);
  EXPECT_EQ(parse_nameserver("[::1]:5")->port, 5);
  EXPECT_FALSE(parse_nameserver("name"));
}

}  // namespace
}  // namespace harn::egress
