// SPDX-License-Identifier: Apache-2.0
#include "ask/wire.h"

#include <gtest/gtest.h>

#include "ask/terminal.h"

namespace harn::ask {
namespace {

TEST(Wire, AQuestionIsOneLine) {
  const Question question{
      .id = 3, .access = "read", .target = "/a\nb", .rule = "r", .processes = {"sh[2]"}, .lasting = true, .patience = milliseconds(5000)};
  EXPECT_EQ(
      question_line(question),
      R"({"type": "question", "id": 3, "access": "read", "target": "/a\nb", "rule": "r", "processes": ["sh[2]"], "answers": ["once", "run", "policy", "deny"], "expires_ms": 5000})"
      "\n");
}

TEST(Wire, AnswersAreReadStrictly) {
  const auto read = read_answer(R"({"id": 3, "answer": "run", "lasts_ms": 250})");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->first, 3u);
  EXPECT_EQ(read->second.word, Word::run);
  EXPECT_EQ(read->second.lasts, milliseconds(250));
  for (const auto* line :
       {"", "yes", "[]", R"({"id": 3})", R"({"id": "3", "answer": "run"})", R"({"id": 3, "answer": "allow"})",
        R"({"id": -1, "answer": "run"})", R"({"id": 3, "answer": "run", "lasts_ms": 0})", R"({"id": 3, "answer": "run", "lasts_ms": "x"})"})
    EXPECT_FALSE(read_answer(line)) << line;
}

TEST(Terminal, AnAnswerNeedsTheNumber) {
  EXPECT_EQ(read_reply("o4821", "4821")->word, Word::once);
  EXPECT_EQ(read_reply("p 4821", "4821")->word, Word::policy);
  for (const auto* line : {"", "o", "4821", "o482", "o48210", "x4821", "oo4821", "\x1b[6no4821"})
    EXPECT_FALSE(read_reply(line, "4821")) << line;
}

TEST(Terminal, APromptMovesNothing) {
  const auto prompt = prompt_of({.access = "read",
                                 .target = "/a\x1b[2J\r\nharn: the command asks to read '/b'",
                                 .rule = "x\x1b[H",
                                 .processes = {"e\x1b[1m[2]"},
                                 .patience = milliseconds(1000)},
                                "1234");
  EXPECT_EQ(prompt.find('\x1b'), std::string::npos) << prompt;
  EXPECT_EQ(prompt.find('\r'), std::string::npos);
  EXPECT_EQ(std::count(prompt.begin(), prompt.end(), '\n'), 2) << prompt;
}

}  // namespace
}  // namespace harn::ask
