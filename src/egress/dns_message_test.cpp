// SPDX-License-Identifier: Apache-2.0
#include "egress/dns_message.h"

#include <gtest/gtest.h>

namespace harn::egress {
namespace {

using policy::IpBlock;

IpBlock ip(std::string_view text) {
  return text.find(':') == std::string_view::npos ? *policy::parse_ipv4(text) : *policy::parse_ipv6(text);
}

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Bytes labels(std::initializer_list<std::string_view> parts) {
  Bytes out;
  for (const auto part : parts) {
    out.push_back(static_cast<std::uint8_t>(part.size()));
    out.insert(out.end(), part.begin(), part.end());
  }
  out.push_back(0);
  return out;
}

const Bytes internet_a = {0, 1, 0, 1};

Bytes question(const Bytes& name, Bytes flags = {1, 0}) {
  return Bytes{0x12, 0x34} + flags + Bytes{0, 1, 0, 0, 0, 0, 0, 0} + name + internet_a;
}

TEST(DnsQuestion, OurOwnIsReadBack) {
  const auto message = print_question(77, "a.example.org", type_aaaa);
  const auto read = parse_question(message);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->problem, DnsCode::ok);
  EXPECT_EQ(read->question.id, 77);
  EXPECT_EQ(read->question.name, "a.example.org");
  EXPECT_EQ(read->question.type, type_aaaa);
  EXPECT_TRUE(read->question.recursion);
  EXPECT_TRUE(print_question(1, "", type_a).empty());
  const std::string label(64, 'a');
  EXPECT_TRUE(print_question(1, label, type_a).empty());
  EXPECT_TRUE(print_question(1, "a..b", type_a).empty());
  EXPECT_TRUE(print_question(1, std::string(254, 'a'), type_a).empty());
}

TEST(DnsQuestion, LettersAreFoldedAndEchoedAsTheyWere) {
  const auto message = question(labels({"ExAmple", "ORG"}));
  const auto read = parse_question(message);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->question.name, "example.org");
  const auto answer = print_answer(read->question, DnsCode::no_such_name, {}, 0);
  EXPECT_EQ(Bytes(answer.begin() + 12, answer.end()), labels({"ExAmple", "ORG"}) + internet_a);
  EXPECT_EQ(answer[3] & 0x0f, 3);
  EXPECT_EQ(answer[2] & 0x80, 0x80);
}

TEST(DnsQuestion, StrangeBytesMakeNoOtherName) {
  for (const auto& name : {labels({std::string_view("a\0b", 3), "org"}), labels({"a.b", "org"}), labels({"a b"}), labels({"b\xc3\xbc"}),
                           labels({"a@b"}), labels({"%61"})}) {
    const auto read = parse_question(question(name));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->problem, DnsCode::ok);
    EXPECT_EQ(read->question.name, "?");
  }
}

TEST(DnsQuestion, WhatIsBrokenIsSaidOrIgnored) {
  const std::string label(63, 'a');
  const auto long_name = labels({label, label, label, label});
  const auto good = question(labels({"a", "org"}));
  for (std::size_t length = 0; length < good.size(); ++length) {
    const auto read = parse_question(ByteView(good).first(length));
    if (length < 12) EXPECT_FALSE(read);
    else EXPECT_EQ(read->problem, DnsCode::malformed) << length;
  }
  EXPECT_FALSE(parse_question(question(labels({"a"}), {0x81, 0})));                                  // an answer
  EXPECT_EQ(parse_question(question(labels({"a"}), {0x28, 0}))->problem, DnsCode::not_implemented);  // UPDATE
  EXPECT_EQ(parse_question(question({0xc0, 0x0c}))->problem, DnsCode::malformed);                    // points at itself
  EXPECT_EQ(parse_question(question({0x40, 'a', 0}))->problem, DnsCode::malformed);                  // no such label type
  EXPECT_EQ(parse_question(question(long_name))->problem, DnsCode::malformed);
  auto two = good;
  two[5] = 2;
  EXPECT_EQ(parse_question(two)->problem, DnsCode::malformed);
  auto chaos = good;
  chaos.back() = 3;
  EXPECT_EQ(parse_question(chaos)->problem, DnsCode::not_implemented);
}

TEST(DnsAnswer, HoldsOnlyTheFamilyThatWasAskedFor) {
  const auto read = parse_question(question(labels({"a", "org"})));
  const IpBlock both[] = {ip("198.18.1.0"), ip("fd00::1")};
  const auto answer = print_answer(read->question, DnsCode::ok, both, 30);
  const auto reply = parse_reply(answer, 0x1234, "a.org", type_a);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->addresses, std::vector<IpBlock>{ip("198.18.1.0")});
  EXPECT_EQ(reply->ttl, 30u);
  auto other = read->question;
  other.type = 16;
  EXPECT_EQ(print_answer(other, DnsCode::ok, both, 30)[7], 0);
}

Bytes header(std::uint8_t answers, std::uint8_t code = 0) {
  return {0, 9, 0x81, static_cast<std::uint8_t>(0x80 | code), 0, 1, 0, answers, 0, 0, 0, 0};
}
Bytes record(const Bytes& owner, std::uint8_t type, std::uint8_t ttl, const Bytes& content) {
  return owner + Bytes{0, type, 0, 1, 0, 0, 0, ttl, 0, static_cast<std::uint8_t>(content.size())} + content;
}

TEST(DnsReply, FollowsAliasesAndNothingElse) {
  const auto name = labels({"a", "org"});
  const auto message = header(5) + name + internet_a + record({0xc0, 12}, 5, 60, labels({"b", "net"})) +
                       record(labels({"c", "com"}), 1, 9, {10, 0, 0, 1}) + record(labels({"b", "net"}), 5, 20, labels({"c", "com"})) +
                       record(labels({"other", "org"}), 1, 1, {127, 0, 0, 1}) + record({0xc0, 12}, 1, 1, {6, 6, 6, 6});
  const auto reply = parse_reply(message, 9, "a.org", type_a);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->aliases, (std::vector<std::string>{"b.net", "c.com"}));
  EXPECT_EQ(reply->addresses, std::vector<IpBlock>{ip("10.0.0.1")});
  EXPECT_EQ(reply->ttl, 9u);
}

TEST(DnsReply, MustAnswerTheQuestion) {
  const auto name = labels({"a", "org"});
  const auto good = header(1) + name + internet_a + record({0xc0, 12}, 1, 60, {1, 2, 3, 4});
  EXPECT_TRUE(parse_reply(good, 9, "a.org", type_a));
  EXPECT_FALSE(parse_reply(good, 8, "a.org", type_a));
  EXPECT_FALSE(parse_reply(good, 9, "b.org", type_a));
  EXPECT_FALSE(parse_reply(good, 9, "a.org", type_aaaa));
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_FALSE(parse_reply(ByteView(good).first(length), 9, "a.org", type_a)) << length;
  EXPECT_FALSE(parse_reply(header(1) + name + internet_a + record({0xc0, 12}, 1, 60, {1, 2, 3}), 9, "a.org", type_a));
  // Aliases in a circle end, pointers in a circle too.
  const auto circle =
      header(2) + name + internet_a + record({0xc0, 12}, 5, 60, labels({"b", "net"})) + record(labels({"b", "net"}), 5, 60, {0xc0, 12});
  EXPECT_TRUE(parse_reply(circle, 9, "a.org", type_a)->addresses.empty());
  const auto pointers = header(1) + name + internet_a + record({0xc0, 23}, 1, 60, {1, 2, 3, 4});
  EXPECT_FALSE(parse_reply(pointers, 9, "a.org", type_a));
  EXPECT_EQ(parse_reply(header(0, 3) + name + internet_a, 9, "a.org", type_a)->code, DnsCode::no_such_name);
}

}  // namespace
}  // namespace harn::egress
