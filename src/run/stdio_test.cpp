// SPDX-License-Identifier: Apache-2.0
#include "run/stdio.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace harn::run {
namespace {

bool is_pipe(int fd) {
  struct stat seen = {};
  return ::fstat(fd, &seen) == 0 && S_ISFIFO(seen.st_mode);
}

// What becomes of one inherited descriptor as standard input.
struct Handed {
  bool as_is = false;
  bool relayed = false;
  Stream stream = Stream::inherit;
};

Handed hand(int fd) {
  const auto stdio = open_stdio({.inherited = {fd, 1, 2}});
  EXPECT_TRUE(stdio);
  return {.as_is = stdio->child[0] == fd,
          .relayed = static_cast<bool>(stdio->our_ends[0]) && is_pipe(stdio->child[0]),
          .stream = stdio->streams[0]};
}

TEST(Stdio, HandsOverPipesAndStreamSocketsAndNull) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_TRUE(hand(ends[0]).as_is);
  int pair[2] = {-1, -1};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  EXPECT_TRUE(hand(pair[0]).as_is);
  const sys::UniqueFd null(::open("/dev/null", O_RDONLY));
  EXPECT_TRUE(hand(null.get()).as_is);
  for (const int fd : {ends[0], ends[1], pair[0], pair[1]}) ::close(fd);
}

// Held by the command, each of these could be opened again or sent elsewhere.
TEST(Stdio, RelaysFilesAndOtherSockets) {
  const sys::UniqueFd file(::open("/etc/passwd", O_RDONLY));
  EXPECT_TRUE(hand(file.get()).relayed);
  int pair[2] = {-1, -1};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
  EXPECT_TRUE(hand(pair[0]).relayed);
  const sys::UniqueFd udp(::socket(AF_INET, SOCK_DGRAM, 0));
  EXPECT_TRUE(hand(udp.get()).relayed);
  for (const int fd : pair) ::close(fd);
}

TEST(Stdio, ReplacesDirectoriesAndClosedDescriptors) {
  const sys::UniqueFd directory(::open("/", O_RDONLY | O_DIRECTORY));
  EXPECT_EQ(hand(directory.get()).stream, Stream::empty);
  EXPECT_EQ(hand(987).stream, Stream::empty);
}

TEST(Stdio, CountsOutputOnlyWhenAsked) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe(ends), 0);
  const auto plain = open_stdio({.inherited = {0, ends[1], 2}});
  ASSERT_TRUE(plain);
  EXPECT_FALSE(plain->our_ends[1]);
  const auto counted = open_stdio({.inherited = {0, ends[1], 2}, .count_output = true});
  ASSERT_TRUE(counted);
  EXPECT_TRUE(counted->our_ends[1]);
  for (const int fd : ends) ::close(fd);
}

}  // namespace
}  // namespace harn::run
