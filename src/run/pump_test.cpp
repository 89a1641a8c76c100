// SPDX-License-Identifier: Apache-2.0
#include "run/pump.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

namespace harn::run {
namespace {

struct Pipe {
  Pipe() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    reader = sys::UniqueFd(ends[0]);
    writer = sys::UniqueFd(ends[1]);
  }
  sys::UniqueFd reader = {};
  sys::UniqueFd writer = {};
};

std::string read_all(int fd) {
  std::string out;
  char buffer[65536];
  for (ssize_t got = 0; (got = ::read(fd, buffer, sizeof buffer)) > 0;) out.append(buffer, static_cast<std::size_t>(got));
  return out;
}

TEST(OutputPump, KeepsWhatItMayAndDropsTheRestWithoutBlockingTheWriter) {
  Pipe pipe;
  OutputBudget budget{.left = 4};
  OutputPump pump(std::move(pipe.reader), -1, budget);
  ASSERT_EQ(::write(pipe.writer.get(), "abcdefgh", 8), 8);
  pump.work(POLLIN);
  ASSERT_EQ(::write(pipe.writer.get(), "more", 4), 4);
  pump.work(POLLIN);
  EXPECT_EQ(pump.take_captured(), "abcd");
  EXPECT_TRUE(budget.truncated);
  EXPECT_TRUE(pump.open());
  pipe.writer = {};
  pump.work(POLLHUP);
  EXPECT_FALSE(pump.open());
}

TEST(OutputPump, PassesEveryByteToASlowReader) {
  Pipe from;
  Pipe to;
  OutputBudget budget;
  OutputPump pump(std::move(from.reader), to.writer.get(), budget);
  std::string sent;
  std::string received;
  for (int i = 0; i < 64; ++i) {
    const std::string block(10'000, static_cast<char>('a' + i % 26));
    std::size_t written = 0;
    while (written < block.size()) {
      const auto got = ::write(from.writer.get(), block.data() + written, block.size() - written);
      if (got > 0) written += static_cast<std::size_t>(got);
      pump.work(POLLIN | POLLOUT);
      received += read_all(to.reader.get());
    }
    sent += block;
  }
  from.writer = {};
  while (pump.open()) {
    pump.work(POLLIN | POLLOUT);
    received += read_all(to.reader.get());
  }
  EXPECT_EQ(received, sent);
  EXPECT_FALSE(budget.truncated);
}

TEST(OutputPump, LetsTheCommandFindOutThatNobodyReads) {
  ::signal(SIGPIPE, SIG_IGN);
  Pipe from;
  Pipe to;
  OutputBudget budget;
  OutputPump pump(std::move(from.reader), to.writer.get(), budget);
  to.reader = {};
  ASSERT_EQ(::write(from.writer.get(), "x", 1), 1);
  pump.work(POLLIN);
  pump.work(POLLERR);
  EXPECT_FALSE(pump.open());
  EXPECT_EQ(::write(from.writer.get(), "x", 1), -1);
}

TEST(OutputPump, SaysWhyBytesWereLost) {
  const sys::UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  Pipe from;
  OutputBudget budget;
  OutputPump pump(std::move(from.reader), full.get(), budget);
  ASSERT_EQ(::write(from.writer.get(), "x", 1), 1);
  pump.work(POLLIN);
  EXPECT_EQ(pump.write_error(), 0);
  pump.work(POLLOUT);
  EXPECT_EQ(pump.write_error(), ENOSPC);
}

TEST(OutputPump, TakesTheRestAndNothingThatComesLater) {
  ::signal(SIGPIPE, SIG_IGN);
  Pipe from;
  Pipe to;
  OutputBudget budget;
  OutputPump pump(std::move(from.reader), to.writer.get(), budget);
  ASSERT_EQ(::write(from.writer.get(), "rest", 4), 4);
  pump.take_rest();
  EXPECT_EQ(::write(from.writer.get(), "later", 5), -1);
  while (pump.open()) pump.work(POLLOUT);
  EXPECT_EQ(read_all(to.reader.get()), "rest");
}

TEST(InputPump, FeedsBytesAndEnds) {
  Pipe pipe;
  InputPump pump(std::string(100'000, 'x'), std::move(pipe.writer));
  std::string received;
  while (pump.open()) {
    pump.work(POLLOUT);
    received += read_all(pipe.reader.get());
  }
  EXPECT_EQ(received, std::string(100'000, 'x'));
}

TEST(InputPump, GivesBackWhatNobodyRead) {
  const sys::UniqueFd file(::memfd_create("input", MFD_CLOEXEC));
  const std::string text(200'000, 'x');
  ASSERT_EQ(::pwrite(file.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  Pipe pipe;
  const sys::UniqueFd command(::dup(pipe.reader.get()));
  InputPump pump(file.get(), std::move(pipe.writer), std::move(pipe.reader));
  for (int i = 0; i < 5; ++i) pump.work(POLLOUT);
  char seven[7];
  ASSERT_EQ(::read(command.get(), seven, sizeof seven), 7);
  pump.give_back();
  EXPECT_EQ(::lseek(file.get(), 0, SEEK_CUR), 7);
}

TEST(InputPump, HasNothingToSayWithoutBytes) {
  Pipe pipe;
  EXPECT_FALSE(InputPump(std::string(), std::move(pipe.writer)).open());
}

}  // namespace
}  // namespace harn::run
