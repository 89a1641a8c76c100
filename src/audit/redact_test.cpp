// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "harn/audit.h"

namespace harn {
namespace {

using Words = std::vector<std::string>;

struct Case {
  std::string text;
  std::string expected;
};

TEST(Redact, WhatLooksLikeASecretIsHidden) {
  const Case cases[] = {
      {"ghp_abcdefghijklmnopqrstuvwxyz0123456789", "[redacted]"},
      {"https://x/?t=github_pat_11ABCDEFG0abcdefghijkl_mnop", "https://x/?t=[redacted]"},
      {"key sk-proj-abcdef0123456789 end", "key [redacted] end"},
      {"AKIAIOSFODNN7EXAMPLE", "[redacted]"},
      {"Authorization: Bearer abc.def-ghi_123", "Authorization: Bearer [redacted]"},
      {"authorization: Basic dXNlcjpwYXNz", "authorization: Basic [redacted]"},
      {"X-Api-Key: 12345", "X-Api-Key: [redacted]"},
      {"password=hunter2", "password=[redacted]"},
      {"DB_PASSWORD=hunter2", "DB_PASSWORD=[redacted]"},
      {"host=a password='two words' user=b", "host=a password='[redacted]' user=b"},
      {"--token=abc", "--token=[redacted]"},
      {"https://me:pa@ss@host/x", "https://[redacted]@host/x"},
      {"postgres://u:p@h:5432/db", "postgres://[redacted]@h:5432/db"},
      {"https://h/cb?token=abc&next=1", "https://h/cb?token=[redacted]&next=1"},
      {R"({"api_key": "abc", "n": 1})", R"({"api_key": "[redacted]", "n": 1})"},
      {"-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n", "[redacted]\n"},
      {"Cookie: a=1; b=two", "Cookie: [redacted]"},
      {"-H 'Cookie: a=1; b=2' x", "-H 'Cookie: [redacted]' x"},
      {"https://h/blob?se=1&sig=abc%3D&x=1", "https://h/blob?se=1&sig=[redacted]&x=1"},
      {"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdef", "[redacted]"},
  };
  for (const auto& row : cases) EXPECT_EQ(redacted_text(row.text), row.expected);
}

TEST(Redact, OrdinaryTextStays) {
  for (const std::string text : {"make", "test", "-j4", "src/a.c", "--passes=3", "https://example.org/a?b=c", "user@host:/path",
                                 "npm_config", "token", "a basic test", "sk-", "print('hello, world')", "x = 3; y: 4", "caf\xc3\xa9"})
    EXPECT_EQ(redacted_text(text), text);
}

TEST(Redact, TheWordAfterASecretOptionIsHidden) {
  EXPECT_EQ(redacted_words(Words{"tool", "--token", "abc", "--verbose"}, {}), (Words{"tool", "--token", "[redacted]", "--verbose"}));
  EXPECT_EQ(redacted_words(Words{"tool", "--password", "--x"}, {}), (Words{"tool", "--password", "--x"}));
  EXPECT_EQ(redacted_words(Words{"curl", "-u", "me:pw", "https://h"}, {}), (Words{"curl", "-u", "me:[redacted]", "https://h"}));
  EXPECT_EQ(redacted_words(Words{"sh", "-c", "tool --password hunter2 -u me:pw x"}, {}),
            (Words{"sh", "-c", "tool --password [redacted] -u me:[redacted] x"}));
  EXPECT_EQ(redacted_words(Words{"curl", "--cookie", "a=b", "-b", "c.txt"}, {}), (Words{"curl", "--cookie", "[redacted]", "-b", "c.txt"}));
}

TEST(Redact, PasswordsInShortOptionsOfKnownProgramsAreHidden) {
  EXPECT_EQ(redacted_words(Words{"/usr/bin/mysql", "-uroot", "-phunter2", "db"}, {}),
            (Words{"/usr/bin/mysql", "-uroot", "-p[redacted]", "db"}));
  EXPECT_EQ(redacted_words(Words{"sshpass", "-p", "hunter2", "ssh", "h"}, {}), (Words{"sshpass", "-p", "[redacted]", "ssh", "h"}));
  EXPECT_EQ(redacted_words(Words{"sh", "-c", "redis-cli -h x -a hunter2 ping"}, {}),
            (Words{"sh", "-c", "redis-cli -h x -a [redacted] ping"}));
  EXPECT_EQ(redacted_words(Words{"mkdir", "-p", "a/b", "-pv"}, {}), (Words{"mkdir", "-p", "a/b", "-pv"}));
}

TEST(Redact, ValuesOfWithheldVariablesAreHiddenWhereverTheyAppear) {
  const Words secrets = {"s3cr\xff\x65t!", "1", "prod", ""};
  EXPECT_EQ(redacted_words(Words{"login", "xs3cr\xff\x65t!y", "-n", "1", "A=1", "x1"}, secrets),
            (Words{"login", "x[redacted]y", "-n", "[redacted]", "A=[redacted]", "x1"}));
}

TEST(Redact, WhatIsTooLongIsCut) {
  const auto text = redacted_text(std::string(5000, 'x'));
  EXPECT_TRUE(text.ends_with("[2952 more bytes]")) << text.substr(2000);
  const Words many(1000, "w");
  const auto words = redacted_words(many, {});
  EXPECT_EQ(words.size(), 257u);
  EXPECT_EQ(words.back(), "[744 more words]");
}

}  // namespace
}  // namespace harn
