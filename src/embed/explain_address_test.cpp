// SPDX-License-Identifier: Apache-2.0
#include "embed/explain_address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace harn::embed {
namespace {

template <class T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string v4(const char* address, std::uint16_t port) {
  sockaddr_in out = {};
  out.sin_family = AF_INET;
  out.sin_port = htons(port);
  EXPECT_EQ(::inet_pton(AF_INET, address, &out.sin_addr), 1);
  return bytes_of(out);
}

std::string v6(const char* address, std::uint16_t port) {
  sockaddr_in6 out = {};
  out.sin6_family = AF_INET6;
  out.sin6_port = htons(port);
  EXPECT_EQ(::inet_pton(AF_INET6, address, &out.sin6_addr), 1);
  return bytes_of(out);
}

TEST(ExplainAddress, SpellsAddressesForPeople) {
  EXPECT_EQ(parse_address(v4("192.0.2.1", 80))->text, "192.0.2.1:80");
  EXPECT_FALSE(parse_address(v4("192.0.2.1", 80))->loopback);
  EXPECT_TRUE(parse_address(v4("127.9.9.9", 80))->loopback);
  EXPECT_EQ(parse_address(v6("2001:db8::1", 443))->text, "[2001:db8::1]:443");
  EXPECT_TRUE(parse_address(v6("::1", 1))->loopback);
  EXPECT_TRUE(parse_address(v6("::ffff:127.0.0.1", 1))->loopback);
  EXPECT_FALSE(parse_address(v6("::ffff:192.0.2.1", 1))->loopback);
  EXPECT_EQ(parse_address(v6("::1", 5432))->port, 5432);
}

TEST(ExplainAddress, AbstractNamesAreThoseAfterAZero) {
  const std::string bytes = bytes_of(sa_family_t{AF_UNIX}) + std::string("\0name", 5);
  EXPECT_EQ(parse_address(bytes)->text, "name");
  EXPECT_TRUE(parse_address(bytes)->abstract);
}

TEST(ExplainAddress, FragmentsAreNone) {
  for (const auto& whole : {v4("192.0.2.1", 80), v6("::1", 1)})
    for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(parse_address(whole.substr(0, size))) << size;
}

TEST(ExplainAddress, FamiliesAreNamed) {
  EXPECT_EQ(describe_family(AF_INET, SOCK_STREAM | SOCK_CLOEXEC).text, "AF_INET SOCK_STREAM");
  EXPECT_EQ(describe_family(AF_INET, SOCK_RAW).kind, Family::other);
  EXPECT_EQ(describe_family(AF_UNIX, SOCK_STREAM).kind, Family::local);
  EXPECT_EQ(describe_family(38, SOCK_SEQPACKET).text, "family 38 SOCK_SEQPACKET");
}

}  // namespace
}  // namespace harn::embed
