// SPDX-License-Identifier: Apache-2.0
#include "ask/desk.h"

#include <gtest/gtest.h>

namespace harn::ask {
namespace {

class DeskTest : public testing::Test {
 protected:
  Question about(std::string access, std::string target, bool lasting = false) {
    return {.access = std::move(access), .target = std::move(target), .lasting = lasting};
  }
  // The answers that came, in order: "3+" yes to waiter 3, "4-" no to waiter 4.
  void ask(const Question& question, std::uint64_t waiter) {
    desk_.ask(question, waiter, [this, waiter](bool allowed) { said_ += std::to_string(waiter) + (allowed ? "+ " : "- "); }, now_);
  }
  std::string said() { return std::exchange(said_, {}); }

  std::vector<Question> shown_ = {};
  std::vector<std::string> withdrawn_ = {};
  std::vector<Ended> ended_ = {};
  std::string said_ = {};
  Time now_ = {};
  Desk desk_{{.patience = milliseconds(1000), .open = 3, .total = 5},
             {.show = [this](const Question& question) { shown_.push_back(question); },
              .withdraw = [this](const Question&, std::string_view why) { withdrawn_.emplace_back(why); },
              .ended = [this](const Ended& ended) { ended_.push_back(ended); }}};
};

TEST_F(DeskTest, OneQuestionForEverybodyWhoWaits) {
  ask(about("read", "/f"), 1);
  ask(about("read", "/f"), 2);
  ASSERT_EQ(shown_.size(), 1u);
  desk_.answer(shown_[0].id, {.word = Word::run}, now_);
  EXPECT_EQ(said(), "1+ 2+ ");
  ask(about("read", "/f"), 3);
  EXPECT_EQ(said(), "3+ ") << "remembered";
  EXPECT_EQ(shown_.size(), 1u);
}

TEST_F(DeskTest, OnceIsForOneOfThem) {
  ask(about("read", "/f"), 1);
  ask(about("read", "/f"), 2);
  desk_.answer(shown_[0].id, {.word = Word::once}, now_);
  EXPECT_EQ(said(), "1+ 2- ");
  ask(about("read", "/f"), 3);
  EXPECT_EQ(said(), "");
  EXPECT_EQ(shown_.size(), 2u);
}

TEST_F(DeskTest, ALookLeavesOnceToTheOpenThatFollows) {
  ask(about("find", "/f"), 1);
  EXPECT_EQ(shown_[0].access, "read");
  desk_.answer(shown_[0].id, {.word = Word::once}, now_);
  ask(about("find", "/f"), 2);
  ask(about("read", "/f"), 3);
  EXPECT_EQ(said(), "1+ 2+ 3+ ");
  ask(about("read", "/f"), 4);
  EXPECT_EQ(said(), "");
}

TEST_F(DeskTest, ReadingIsNotWritingButWritingIsReading) {
  ask(about("read", "/f"), 1);
  desk_.answer(1, {.word = Word::run}, now_);
  ask(about("write", "/f"), 2);
  EXPECT_EQ(said(), "1+ ");
  desk_.answer(2, {.word = Word::deny}, now_);
  ask(about("read", "/f"), 3);
  EXPECT_EQ(said(), "2- 3+ ") << "a no to writing takes no reading away";
  ask(about("create", "/g"), 4);
  desk_.answer(3, {.word = Word::run}, now_);
  ask(about("read", "/g"), 5);
  EXPECT_EQ(said(), "4+ 5+ ");
}

TEST_F(DeskTest, AnswersExpire) {
  ask(about("read", "/f"), 1);
  desk_.answer(1, {.word = Word::run, .lasts = milliseconds(10)}, now_);
  now_ += milliseconds(10);
  ask(about("read", "/f"), 2);
  EXPECT_EQ(said(), "1+ ");
  EXPECT_EQ(shown_.size(), 2u);
}

TEST_F(DeskTest, NobodysAnswerIsANo) {
  ask(about("read", "/f"), 1);
  EXPECT_EQ(desk_.next_expiry(), now_ + milliseconds(1000));
  desk_.expire(now_ + milliseconds(999));
  EXPECT_EQ(said(), "");
  desk_.expire(now_ + milliseconds(1000));
  EXPECT_EQ(said(), "1- ");
  EXPECT_EQ(ended_.back().why, "timed out");
  desk_.answer(1, {.word = Word::run}, now_);
  EXPECT_EQ(said(), "") << "too late";
}

TEST_F(DeskTest, WhoeverIsGoneGetsNoAnswer) {
  ask(about("read", "/f"), 1);
  ask(about("read", "/f"), 2);
  desk_.gone(1);
  EXPECT_TRUE(withdrawn_.empty());
  desk_.gone(2);
  EXPECT_EQ(withdrawn_.size(), 1u);
  desk_.answer(1, {.word = Word::run}, now_);
  EXPECT_EQ(said(), "");
  EXPECT_FALSE(desk_.has_open());
}

TEST_F(DeskTest, AFloodIsCut) {
  for (std::uint64_t i = 1; i <= 4; ++i) ask(about("read", "/f" + std::to_string(i)), i);
  EXPECT_EQ(said(), "4- ") << "three at one time";
  desk_.expire(now_ + milliseconds(1000));
  EXPECT_EQ(said(), "1- 2- 3- ");
  for (std::uint64_t i = 11; i <= 30; ++i) {
    ask(about("read", "/g" + std::to_string(i)), i);
    desk_.expire(now_ + milliseconds(2000));
  }
  EXPECT_EQ(shown_.size(), 5u) << "five of one run";
  EXPECT_LE(ended_.size(), 8u) << "and the record stays small";
}

TEST_F(DeskTest, WithoutAnOperatorEverythingIsANo) {
  ask(about("read", "/f"), 1);
  desk_.close("the operator is gone");
  ask(about("read", "/g"), 2);
  EXPECT_EQ(said(), "1- 2- ");
  EXPECT_EQ(shown_.size(), 1u);
}

TEST_F(DeskTest, OnlyWhatLastsIsWrittenDown) {
  ask(about("read", "/secret"), 1);
  desk_.answer(1, {.word = Word::policy}, now_);
  EXPECT_EQ(ended_.back().word, Word::run);
  ask(about("read", "/f", /*lasting=*/true), 2);
  desk_.answer(2, {.word = Word::policy}, now_);
  EXPECT_EQ(ended_.back().word, Word::policy);
  EXPECT_EQ(said(), "1+ 2+ ");
}

}  // namespace
}  // namespace harn::ask
