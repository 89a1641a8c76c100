// SPDX-License-Identifier: Apache-2.0
#include "policy/special_addresses.h"

#include <gtest/gtest.h>

namespace harn::policy {
namespace {

IpBlock ip(std::string_view text) {
  if (text.find(':') != std::string_view::npos) return parse_ipv6(text).value_or(IpBlock{});
  return parse_ipv4(text).value_or(IpBlock{});
}

struct Row {
  std::string_view address = {};
  std::string_view range = {};  // empty = public
};

TEST(SpecialAddresses, AreKnownByTheirRange) {
  const Row rows[] = {
      {"0.0.0.0", "0.0.0.0/8"},
      {"0.1.2.3", "0.0.0.0/8"},
      {"10.0.0.1", "10.0.0.0/8"},
      {"100.64.0.1", "100.64.0.0/10"},
      {"100.127.255.255", "100.64.0.0/10"},
      {"127.0.0.1", "127.0.0.0/8"},
      {"127.255.255.254", "127.0.0.0/8"},
      {"169.254.169.254", "169.254.0.0/16"},
      {"172.16.0.1", "172.16.0.0/12"},
      {"172.31.255.255", "172.16.0.0/12"},
      {"192.0.0.192", "192.0.0.0/24"},
      {"192.0.2.1", "192.0.2.0/24"},
      {"192.88.99.1", "192.88.99.0/24"},
      {"192.168.1.1", "192.168.0.0/16"},
      {"198.18.0.1", "198.18.0.0/15"},
      {"198.19.255.255", "198.18.0.0/15"},
      {"198.51.100.7", "198.51.100.0/24"},
      {"203.0.113.9", "203.0.113.0/24"},
      {"224.0.0.1", "224.0.0.0/4"},
      {"255.255.255.255", "240.0.0.0/4"},
      {"::", "::"},
      {"::1", "::1"},
      {"::127.0.0.1", "::/3"},
      {"::ffff:127.0.0.1", "127.0.0.0/8"},
      {"::ffff:0:127.0.0.1", "::/3"},
      {"64:ff9b::127.0.0.1", "64:ff9b::/96"},
      {"64:ff9b::169.254.169.254", "64:ff9b::/96"},
      {"64:ff9b:1::1", "64:ff9b:1::/48"},
      {"100::1", "100::/64"},
      {"2001::1", "2001::/23"},
      {"2001:db8::1", "2001:db8::/32"},
      {"2002:7f00:1::", "2002::/16"},
      {"3fff::1", "3fff::/20"},
      {"4000::1", "4000::/3"},
      {"fc00::1", "fc00::/7"},
      {"fd00:ec2::254", "fc00::/7"},
      {"fe80::1", "fe80::/10"},
      {"fec0::1", "fec0::/10"},
      {"ff02::1", "ff00::/8"},
      {"1.1.1.1", ""},
      {"9.255.255.255", ""},
      {"11.0.0.0", ""},
      {"100.63.255.255", ""},
      {"100.128.0.0", ""},
      {"172.15.255.255", ""},
      {"172.32.0.0", ""},
      {"192.0.1.0", ""},
      {"198.17.255.255", ""},
      {"198.20.0.0", ""},
      {"223.255.255.255", ""},
      {"64:ff9b::1.1.1.1", ""},
      {"2600::1", ""},
      {"2a00:1450::1", ""},
      {"::ffff:8.8.8.8", ""},
  };
  for (const auto& [address, range] : rows) {
    const auto found = special_range(ip(address));
    EXPECT_EQ(found ? print_ip(found->block) : "", range) << address;
  }
}

TEST(SpecialAddresses, LoopbackIsEveryWayToTheMachineItself) {
  for (const auto* address : {"127.0.0.1", "127.9.9.9", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1", "::ffff:0.0.0.0"}) {
    const auto found = special_range(ip(address));
    EXPECT_TRUE(found && found->loopback) << address;
  }
  for (const auto* address : {"10.0.0.1", "fc00::1", "64:ff9b::127.0.0.1", "169.254.169.254"}) {
    const auto found = special_range(ip(address));
    EXPECT_TRUE(found && !found->loopback) << address;
  }
}

}  // namespace
}  // namespace harn::policy
