// SPDX-License-Identifier: Apache-2.0
#include "run/refusals.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>
#include <string>

#include "run/supervisor/protocol.h"
#include "sys/unique_fd.h"

namespace harn::run {
namespace {

struct Line {
  sys::UniqueFd ours;
  sys::UniqueFd theirs;

  Line() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    ours = sys::UniqueFd(ends[0]);
    theirs = sys::UniqueFd(ends[1]);
  }
  void send(const std::string& bytes) const {
    EXPECT_EQ(::send(theirs.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  std::vector<Refused> take() const {
    std::vector<Refused> out;
    while (hand_on_refusals(ours.get(), {.refusal = [&](const Refused& one) { out.push_back(one); }}, 64)) {
    }
    return out;
  }
};

template <class T>
void append(std::string& text, const T& value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string sample() {
  std::string bytes;
  append(bytes, supervisor::Refusal{.number = 1, .error = 13, .wanted = supervisor::Wanted::writing, .processes = 2, .text_size = 4});
  bytes += "/a/b";
  append(bytes, supervisor::ProcessRow{.id = 3, .name = {'c', 'a', 't'}});
  append(bytes, supervisor::ProcessRow{.id = 2, .name = {'s', 'i', 'x', 't', 'e', 'e', 'n', '-', 'l', 'e', 't', 't', 'e', 'r', 's', '!'}});
  return bytes;
}

TEST(Refusals, AreHandedOnWithWhoDidIt) {
  const Line line;
  line.send(sample());
  const auto got = line.take();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].call, "write");
  EXPECT_EQ(got[0].wanted, Wanted::writing);
  EXPECT_EQ(got[0].target, "/a/b");
  EXPECT_EQ(got[0].error, 13);
  EXPECT_EQ(got[0].processes, (std::vector<std::string>{"sixteen-letters![2]", "cat[3]"}));
}

TEST(Refusals, BytesThatDoNotAddUpAreDropped) {
  std::mt19937 random(1);
  const auto whole = sample();
  const Line line;
  for (int i = 0; i < 2000; ++i) {
    auto bytes = whole.substr(0, 1 + random() % whole.size());
    if (bytes.size() == whole.size()) bytes += "x";
    if (random() % 2 == 0) bytes[random() % bytes.size()] = static_cast<char>(random());
    line.send(bytes);
    for (const auto& one : line.take()) EXPECT_LE(one.target.size(), bytes.size());
  }
}

TEST(Refusals, ABurstDoesNotHoldTheCallerUp) {
  const Line line;
  for (int i = 0; i < 10; ++i) line.send(sample());
  int taken = 0;
  EXPECT_TRUE(hand_on_refusals(line.ours.get(), {.refusal = [&](const Refused&) { ++taken; }}, 4));
  EXPECT_EQ(taken, 4);
}

}  // namespace
}  // namespace harn::run
