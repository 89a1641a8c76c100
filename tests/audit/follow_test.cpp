// SPDX-License-Identifier: Apache-2.0
// `harn audit tail -f` tells each event once and in order while others write, across files that are followed by
// new ones, and ends when nobody reads it any more.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/json.h"
#include "support/temp_dir.h"
#include "sys/unique_fd.h"

namespace harn::test {
namespace {

constexpr int patience_ms = 20'000;

int write_events(const AbsPath& directory, const char* count) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl(HARN_AUDIT_WRITER, HARN_AUDIT_WRITER, directory.text().c_str(), count, "process", "16384", nullptr);
    ::_exit(98);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

class Follower {
 public:
  explicit Follower(const AbsPath& state) {
    int ends[2] = {};
    if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
    out_ = sys::UniqueFd(ends[0]);
    const sys::UniqueFd in(ends[1]);
    const auto place = "XDG_STATE_HOME=" + state.text();
    child_ = ::fork();
    if (child_ != 0) return;
    ::dup2(in.get(), STDOUT_FILENO);
    const char* argv[] = {"harn", "audit", "tail", "-f", "-n", "1", "--json", nullptr};
    const char* environment[] = {"PATH=/usr/bin:/bin", "HOME=/nonexistent", place.c_str(), nullptr};
    ::execve(HARN_BINARY, const_cast<char**>(argv), const_cast<char**>(environment));
    ::_exit(98);
  }
  ~Follower() {
    if (child_ > 0) ::kill(child_, SIGKILL);
    end();
  }
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  // The number of the next event it tells of; -1 when it keeps silent.
  std::int64_t next() {
    for (;;) {
      if (const auto end = heard_.find('\n'); end != std::string::npos) {
        const auto event = base::parse_json(heard_.substr(0, end));
        heard_.erase(0, end + 1);
        return event ? event->find("seq")->integer() : -2;
      }
      pollfd more = {.fd = out_.get(), .events = POLLIN, .revents = 0};
      char block[4096];
      if (::poll(&more, 1, patience_ms) <= 0) return -1;
      const auto got = ::read(out_.get(), block, sizeof block);
      if (got <= 0) return -1;
      heard_.append(block, static_cast<std::size_t>(got));
    }
  }

  void stop_listening() { out_ = {}; }
  bool ends_within(int milliseconds) {
    for (; milliseconds > 0; milliseconds -= 20, ::usleep(20'000))
      if (::waitpid(child_, nullptr, WNOHANG) == child_) return child_ = -1, true;
    return false;
  }

 private:
  void end() {
    if (child_ > 0) ::waitpid(child_, nullptr, 0);
    child_ = -1;
  }

  sys::UniqueFd out_ = {};
  pid_t child_ = -1;
  std::string heard_ = {};
};

TEST(AuditFollow, TellsEveryEventOnceAndInOrderAcrossFiles) {
  const TempDir temp;
  const auto log = temp.path("harn/audit");
  ASSERT_EQ(write_events(log, "3"), 0);
  Follower follower(temp.path(""));
  auto seq = follower.next();
  EXPECT_EQ(seq, 4) << "the last one that is there";
  ASSERT_EQ(write_events(log, "60"), 0);
  for (int i = 0; i < 80; ++i) ASSERT_EQ(follower.next(), ++seq);
  EXPECT_GT(std::distance(std::filesystem::directory_iterator(log.text()), {}), 3) << "one file would show nothing";
  follower.stop_listening();
  ASSERT_EQ(write_events(log, "1"), 0);
  EXPECT_TRUE(follower.ends_within(patience_ms));
}

}  // namespace
}  // namespace harn::test
