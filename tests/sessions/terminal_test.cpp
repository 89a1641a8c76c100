// SPDX-License-Identifier: Apache-2.0
// harn session exec -t: the command has a terminal of its own that is connected to ours.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "cli/run_program.h"
#include "support/temp_dir.h"

namespace harn {
namespace {

class SessionTerminal : public testing::Test {
 protected:
  SessionTerminal() {
    dir_.directory("home");
    dir_.directory("work");
    ::chmod(dir_.directory("run").text().c_str(), 0700);
  }
  void SetUp() override { ASSERT_EQ(harn({"session", "create", "--id", "one"}).exit_code, 0); }
  void TearDown() override {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    if (master_ >= 0) ::close(master_);
    harn({"session", "terminate", "one"});
  }

  std::vector<std::string> environment() const {
    return {"HOME=" + dir_.path("home").text(), "PATH=/usr/bin:/bin", "XDG_RUNTIME_DIR=" + dir_.path("run").text(), "TERM=dumb"};
  }
  test::ProgramRun harn(std::vector<std::string> words) const {
    words.insert(words.begin(), HARN_BINARY);
    std::map<std::string, std::string> variables;
    for (const auto& entry : environment()) variables.emplace(entry.substr(0, entry.find('=')), entry.substr(entry.find('=') + 1));
    return test::run_program({.argv = std::move(words), .environment = variables, .cwd = dir_.path("work"), .scratch = dir_.path()});
  }

  // On a terminal of 30 lines and 100 columns.
  void start(std::vector<std::string> words) {
    words.insert(words.begin(), HARN_BINARY);
    auto entries = environment();
    std::vector<char*> argv;
    std::vector<char*> envp;
    for (auto& word : words) argv.push_back(word.data());
    for (auto& entry : entries) envp.push_back(entry.data());
    argv.push_back(nullptr);
    envp.push_back(nullptr);
    const auto work = dir_.path("work").text();
    const winsize size = {.ws_row = 30, .ws_col = 100, .ws_xpixel = 0, .ws_ypixel = 0};
    pid_ = ::forkpty(&master_, nullptr, nullptr, &size);
    if (pid_ == 0) {
      if (::chdir(work.c_str()) == 0) ::execve(argv[0], argv.data(), envp.data());
      ::_exit(99);
    }
    ASSERT_GT(pid_, 0);
  }
  void type(std::string_view text) const { ASSERT_EQ(::write(master_, text.data(), text.size()), static_cast<ssize_t>(text.size())); }
  // Until this was written, or for twenty seconds.
  bool sees(const std::string& text) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (seen_.find(text) == std::string::npos && std::chrono::steady_clock::now() < until) {
      pollfd ready = {.fd = master_, .events = POLLIN, .revents = 0};
      char buffer[4096];
      if (::poll(&ready, 1, 100) <= 0) continue;
      const auto got = ::read(master_, buffer, sizeof buffer);
      if (got <= 0) break;
      seen_.append(buffer, static_cast<std::size_t>(got));
    }
    const auto at = seen_.find(text);
    if (at == std::string::npos) return false;
    seen_.erase(0, at + text.size());
    return true;
  }
  int end() {
    int status = 0;
    while (true) {
      char buffer[4096];
      pollfd ready = {.fd = master_, .events = POLLIN, .revents = 0};
      if (::poll(&ready, 1, 20) > 0 && ::read(master_, buffer, sizeof buffer) <= 0) {
        ::waitpid(pid_, &status, 0);
        break;
      }
      if (::waitpid(pid_, &status, WNOHANG) == pid_) break;
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  test::TempDir dir_;
  pid_t pid_ = -1;
  int master_ = -1;
  std::string seen_ = {};
};

TEST_F(SessionTerminal, IsItsOwnAndHasOurSize) {
  start({"session", "exec", "-t", "one", "--", "sh", "-c", "echo own > /dev/tty; stty size; read line; echo got $line; stty size; exit 5"});
  EXPECT_TRUE(sees("own\r\n")) << seen_;
  EXPECT_TRUE(sees("30 100\r\n")) << seen_;
  const winsize size = {.ws_row = 50, .ws_col = 120, .ws_xpixel = 0, .ws_ypixel = 0};
  ASSERT_EQ(::ioctl(master_, TIOCSWINSZ, &size), 0);
  ::usleep(500'000);
  type("typed\n");
  EXPECT_TRUE(sees("got typed\r\n")) << seen_;
  EXPECT_TRUE(sees("50 120\r\n")) << seen_;
  EXPECT_EQ(end(), 5);
}

TEST_F(SessionTerminal, KeysSendSignalsThere) {
  start({"session", "exec", "-t", "one", "--", "sh", "-c", "trap 'echo caught; exit 7' INT; echo ready; while :; do sleep 0.1; done"});
  EXPECT_TRUE(sees("ready\r\n")) << seen_;
  type("\x03");
  EXPECT_TRUE(sees("caught\r\n")) << seen_;
  EXPECT_EQ(end(), 7);
}

TEST_F(SessionTerminal, JobControlWorks) {
  start({"session", "exec", "-t", "one", "--", "bash", "--norc", "-i"});
  type("set -o monitor; sleep 1000\n");
  ::usleep(700'000);
  type("\x1a");
  EXPECT_TRUE(sees("Stopped")) << seen_;
  type("kill %1; echo still-$((40+2))\n");
  EXPECT_TRUE(sees("still-42")) << seen_;
  type("exit 3\n");
  EXPECT_EQ(end(), 3);
}

TEST_F(SessionTerminal, IsLeftAsItWas) {
  start({"session", "exec", "-t", "one", "--", "stty", "raw", "-echo"});
  EXPECT_EQ(end(), 0);
  termios after = {};
  ASSERT_EQ(::tcgetattr(master_, &after), 0);
  EXPECT_TRUE((after.c_lflag & ICANON) != 0 && (after.c_lflag & ECHO) != 0);
}

TEST_F(SessionTerminal, NeedsOne) {
  const auto refused = harn({"session", "exec", "-t", "one", "--", "true"});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_NE(refused.err.find("-t needs a terminal"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace harn
