// SPDX-License-Identifier: Apache-2.0
#include "egress/http_connect.h"

#include <gtest/gtest.h>

namespace harn::egress {
namespace {

using Kind = ConnectStep::Kind;

TEST(HttpConnect, TheHeadSaysWhereTo) {
  const std::string head = "CONNECT a.org:443 HTTP/1.1\r\nHost: other.org\r\n\r\n";
  for (std::size_t length = 0; length < head.size(); ++length) EXPECT_EQ(read_connect(head.substr(0, length)).kind, Kind::more) << length;
  const auto step = read_connect(head + "\x16\x03");
  EXPECT_EQ(step.kind, Kind::request);
  EXPECT_EQ(step.host, "a.org");
  EXPECT_EQ(step.port, 443);
  EXPECT_EQ(step.used, head.size());
  EXPECT_EQ(read_connect("CONNECT [::1]:80 HTTP/1.0\r\n\r\n").host, "[::1]");
}

TEST(HttpConnect, TheHeadMaySayWhoAsks) {
  const auto said = [](const std::string& headers) {
    return read_connect("CONNECT a.org:443 HTTP/1.1\r\n" + headers + "\r\n").authorization;
  };
  EXPECT_EQ(said(""), "");
  EXPECT_EQ(said("Host: a.org\r\nproxy-AUTHORIZATION:  Basic aGFybjprZXk= \r\nX: y\r\n"), "Basic aGFybjprZXk=");
  EXPECT_EQ(said("X-Proxy-Authorization: Basic x\r\n"), "");
  EXPECT_TRUE(print_who_are_you().starts_with("HTTP/1.1 407 "));
}

TEST(HttpConnect, AnythingElseIsRefusedInItsOwnLanguage) {
  for (const auto* text : {"GET http://a.org/ HTTP/1.1\r\n\r\n", "\x16\x03\x01", "connect a.org:443 HTTP/1.1\r\n\r\n", "CONNECX"})
    EXPECT_TRUE(read_connect(text).reply.starts_with("HTTP/1.1 405 ")) << text;
  for (const auto* text : {"CONNECT a.org HTTP/1.1\r\n\r\n", "CONNECT a.org:0 HTTP/1.1\r\n\r\n", "CONNECT a.org:99999 HTTP/1.1\r\n\r\n",
                           "CONNECT a.org:443\r\n\r\n", "CONNECT ::1:80 HTTP/1.1\r\n\r\n", "CONNECT a.org:443 FTP/1\r\n\r\n",
                           "CONNECT  a.org:443 HTTP/1.1\r\n\r\n", "CONNECT a.org:+80 HTTP/1.1\r\n\r\n"})
    EXPECT_TRUE(read_connect(text).reply.starts_with("HTTP/1.1 400 ")) << text;
  EXPECT_TRUE(read_connect("CONNECT " + std::string(most_head_bytes, 'a')).reply.starts_with("HTTP/1.1 431 "));
  EXPECT_TRUE(
      read_connect("CONNECT a.org:1 HTTP/1.1\r\nX: " + std::string(most_head_bytes, 'a') + "\r\n\r\n").reply.starts_with("HTTP/1.1 431 "));
  EXPECT_EQ(print_connect_reply(200, "OK"), "HTTP/1.1 200 OK\r\n\r\n");
}

}  // namespace
}  // namespace harn::egress
