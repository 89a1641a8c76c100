// SPDX-License-Identifier: Apache-2.0
#include "egress/socks5.h"

#include <gtest/gtest.h>

namespace harn::egress {
namespace {

using Kind = Socks5Step::Kind;

std::string bytes(std::initializer_list<int> values) {
  std::string out;
  for (const int value : values) out += static_cast<char>(value);
  return out;
}

TEST(Socks5, GreetingNeedsNoAuthentication) {
  const auto greeting = bytes({5, 2, 2, 0});
  for (std::size_t length = 0; length < greeting.size(); ++length)
    EXPECT_EQ(read_socks5_greeting(greeting.substr(0, length)).kind, Kind::more) << length;
  const auto step = read_socks5_greeting(greeting + "more");
  EXPECT_EQ(step.kind, Kind::greeted);
  EXPECT_EQ(step.used, 4u);
  EXPECT_EQ(step.reply, bytes({5, 0}));
  EXPECT_EQ(read_socks5_greeting(bytes({5, 1, 2})).kind, Kind::broken);
  EXPECT_EQ(read_socks5_greeting(bytes({5, 1, 2})).reply, bytes({5, 0xff}));
  EXPECT_EQ(read_socks5_greeting(bytes({5, 0})).kind, Kind::broken);
  EXPECT_EQ(read_socks5_greeting(bytes({4, 1})).kind, Kind::broken);
}

TEST(Socks5, APasswordIsAskedForWhereThereIsOne) {
  EXPECT_EQ(read_socks5_greeting(bytes({5, 1, 0}), true).reply, bytes({5, 0xff})) << "whoever has none is not served";
  EXPECT_EQ(read_socks5_greeting(bytes({5, 2, 0, 2}), true).reply, bytes({5, 2}));
  const auto said = bytes({1, 4}) + "harn" + bytes({3}) + "key";
  for (std::size_t length = 0; length < said.size(); ++length)
    EXPECT_EQ(read_socks5_password(said.substr(0, length)).kind, Kind::more) << length;
  const auto step = read_socks5_password(said + "x");
  EXPECT_EQ(step.kind, Kind::greeted);
  EXPECT_EQ(step.used, said.size());
  EXPECT_EQ(step.user, "harn");
  EXPECT_EQ(step.password, "key");
  EXPECT_EQ(read_socks5_password(bytes({5, 1})).kind, Kind::broken);
  EXPECT_EQ(print_socks5_password_reply(true), bytes({1, 0}));
  EXPECT_EQ(print_socks5_password_reply(false), bytes({1, 1}));
}

TEST(Socks5, RequestsNameAHostInAnyForm) {
  const auto name = bytes({5, 1, 0, 3, 5}) + "a.org" + bytes({1, 187});
  for (std::size_t length = 0; length < name.size(); ++length)
    EXPECT_EQ(read_socks5_request(name.substr(0, length)).kind, Kind::more) << length;
  const auto step = read_socks5_request(name + "x");
  EXPECT_EQ(step.kind, Kind::request);
  EXPECT_EQ(step.host, "a.org");
  EXPECT_EQ(step.port, 443);
  EXPECT_EQ(step.used, name.size());
  EXPECT_EQ(read_socks5_request(bytes({5, 1, 0, 1, 127, 0, 0, 1, 0, 80})).host, "127.0.0.1");
  EXPECT_EQ(read_socks5_request(bytes({5, 1, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 80})).host, "::1");
  EXPECT_EQ(read_socks5_request(bytes({5, 1, 0, 3, 0, 0, 80})).host, "");
}

TEST(Socks5, OnlyConnectIsServed) {
  for (const int command : {0, 2, 3, 255}) {
    const auto step = read_socks5_request(bytes({5, command, 0, 1, 1, 2, 3, 4, 0, 80}));
    EXPECT_EQ(step.kind, Kind::broken);
    EXPECT_EQ(step.reply, print_socks5_reply(Socks5Reply::no_such_command));
  }
  EXPECT_EQ(read_socks5_request(bytes({5, 1, 0, 2, 1})).reply, print_socks5_reply(Socks5Reply::no_such_address_type));
  EXPECT_EQ(read_socks5_request(bytes({5, 1, 1, 1, 1})).kind, Kind::broken);
  EXPECT_EQ(read_socks5_request(bytes({4, 1, 0, 1, 1})).kind, Kind::broken);
}

}  // namespace
}  // namespace harn::egress
