// SPDX-License-Identifier: Apache-2.0
// Programs and keepers killed at any moment: afterwards 'harn session gc' leaves nothing, and what was kept is kept.
// HARN_SESSION_KILLS says how often.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <thread>

#include "cli/run_program.h"
#include "support/temp_dir.h"

namespace harn {
namespace {

namespace fs = std::filesystem;

int rounds() {
  const char* text = std::getenv("HARN_SESSION_KILLS");
  return text == nullptr ? 12 : std::max(1, std::atoi(text));
}

class Faults : public testing::Test {
 protected:
  Faults() {
    dir_.directory("home");
    dir_.directory("work");
    ::chmod(dir_.directory("run").text().c_str(), 0700);
  }
  ~Faults() override { harn({"session", "gc"}); }

  std::map<std::string, std::string> environment() const {
    return {{"HOME", dir_.path("home").text()}, {"PATH", "/usr/bin:/bin"}, {"XDG_RUNTIME_DIR", dir_.path("run").text()}};
  }
  test::ProgramRun harn(std::vector<std::string> words) const {
    words.insert(words.begin(), HARN_BINARY);
    return test::run_program({.argv = std::move(words), .environment = environment(), .cwd = dir_.path("work"), .scratch = dir_.path()});
  }
  // Killed after so many microseconds.
  void kill_after(std::vector<std::string> words, int micros) const {
    words.insert(words.begin(), HARN_BINARY);
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    std::vector<std::string> entries;
    for (const auto& [name, value] : environment()) entries.push_back(name + "=" + value);
    std::vector<char*> envp;
    for (auto& entry : entries) envp.push_back(entry.data());
    envp.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addchdir_np(&actions, dir_.path("work").text().c_str());
    for (const int fd : {0, 1, 2}) ::posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
    pid_t pid = -1;
    ASSERT_EQ(::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), envp.data()), 0);
    ::posix_spawn_file_actions_destroy(&actions);
    std::this_thread::sleep_for(std::chrono::microseconds(micros));
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }

  // Processes that see our directory: whoever is in a session of ours has it mounted.
  std::vector<pid_t> ours() const {
    std::vector<pid_t> out;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      pid_t pid = 0;
      const auto name = entry.path().filename().string();
      if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr != name.data() + name.size() || pid == ::getpid()) continue;
      std::ifstream mounts(entry.path() / "mountinfo");
      const std::string text{std::istreambuf_iterator<char>(mounts), {}};
      if (text.find(dir_.root() + "/work") != std::string::npos) out.push_back(pid);
    }
    return out;
  }

  void expect_nothing_left() const {
    const auto state = dir_.path("home/.local/state").text();
    for (const auto* place : {"harn/sessions", "harn-sessions"})
      EXPECT_TRUE(!fs::exists(fs::path(state) / place) || fs::is_empty(fs::path(state) / place)) << place;
    const auto run = dir_.path("run/harn/sessions-run").text();
    if (fs::exists(run)) {
      for (const auto& entry : fs::directory_iterator(run)) EXPECT_TRUE(fs::is_empty(entry)) << entry.path();
    }
    for (int i = 0; i < 200 && !ours().empty(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_TRUE(ours().empty());
  }

  test::TempDir dir_;
};

TEST_F(Faults, CreatingIsKilled) {
  ASSERT_EQ(harn({"session", "create", "--id", "warm"}).exit_code, 0);
  ASSERT_EQ(harn({"session", "terminate", "warm"}).exit_code, 0);
  std::mt19937 random(7);
  for (int i = 0; i < rounds(); ++i) {
    kill_after({"session", "create", "--id", "s" + std::to_string(i)}, static_cast<int>(random() % 20'000));
    // What was finished in time lives; everything else is cleared away.
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(harn({"session", "gc"}).exit_code, 0);
    const auto alive = harn({"session", "exec", "s" + std::to_string(i), "--", "true"});
    if (alive.exit_code == 0) {
      EXPECT_EQ(harn({"session", "terminate", "s" + std::to_string(i)}).exit_code, 0);
    }
  }
  EXPECT_EQ(harn({"session", "gc"}).exit_code, 0);
  expect_nothing_left();
}

TEST_F(Faults, CommandsAreKilledWithWhoStartedThem) {
  ASSERT_EQ(harn({"session", "create", "--id", "one"}).exit_code, 0);
  std::mt19937 random(11);
  for (int i = 0; i < rounds(); ++i)
    kill_after({"session", "exec", "one", "--", "sh", "-c", "setsid sleep 1000 & sleep 1000"}, static_cast<int>(random() % 20'000));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const auto left = harn({"session", "exec", "one", "--", "sh", "-c", "ps -e -o comm= | grep -c sleep"});
  EXPECT_EQ(left.out, "0\n");
  EXPECT_EQ(harn({"session", "terminate", "one"}).exit_code, 0);
  expect_nothing_left();
}

TEST_F(Faults, KeepersAreKilled) {
  for (int i = 0; i < rounds(); ++i) {
    ASSERT_EQ(harn({"session", "create", "--id", "one"}).exit_code, 0);
    ASSERT_EQ(harn({"session", "exec", "--keep", "one", "--", "sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 </dev/null &"}).exit_code, 0);
    ASSERT_EQ(harn({"session", "snapshot", "one", "--name", "kept" + std::to_string(i)}).exit_code, 0);
    std::ifstream record(dir_.path("home/.local/state/harn/sessions/one/session.json").text());
    const std::string text{std::istreambuf_iterator<char>(record), {}};
    const auto at = text.find("\"keeper\": ");
    ASSERT_NE(at, std::string::npos);
    ::kill(std::atoi(text.c_str() + at + 10), SIGKILL);
    for (int wait = 0; wait < 200 && !ours().empty(); ++wait) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_NE(harn({"session", "exec", "one", "--", "true"}).exit_code, 0);
    EXPECT_NE(harn({"session", "list"}).out.find("terminated"), std::string::npos);
    EXPECT_EQ(harn({"session", "gc"}).out, "cleared one\n");
    expect_nothing_left();
  }
  EXPECT_NE(harn({"session", "snapshot", "--list"}).out.find("kept" + std::to_string(rounds() - 1)), std::string::npos);
}

TEST_F(Faults, AnotherBootIsNoticed) {
  ASSERT_EQ(harn({"session", "create", "--id", "one"}).exit_code, 0);
  const auto file = dir_.path("home/.local/state/harn/sessions/one/session.json").text();
  std::ifstream in(file);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto at = text.find("\"boot_id\": \"");
  const auto keeper = std::atoi(text.c_str() + text.find("\"keeper\": ") + 10);
  text[at + 12] = text[at + 12] == 'a' ? 'b' : 'a';
  std::ofstream(file) << text;
  EXPECT_NE(harn({"session", "list"}).out.find("terminated"), std::string::npos);
  EXPECT_NE(harn({"session", "exec", "one", "--", "true"}).exit_code, 0);
  EXPECT_EQ(harn({"session", "gc"}).out, "cleared one\n");
  ::kill(keeper, SIGKILL);  // of the boot that was only pretended
  expect_nothing_left();
}

TEST_F(Faults, SnapshotsAreKilled) {
  for (int i = 0; i < 200; ++i)
    std::ofstream(dir_.path("work/f" + std::to_string(i)).text()) << std::string(20'000, static_cast<char>('a' + i % 26));
  ASSERT_EQ(harn({"session", "create", "--id", "one"}).exit_code, 0);
  ASSERT_EQ(harn({"session", "snapshot", "one", "--name", "first"}).exit_code, 0);
  std::mt19937 random(13);
  for (int i = 0; i < rounds(); ++i) {
    std::ofstream(dir_.path("work/f" + std::to_string(i)).text()) << "changed " << i;
    kill_after({"session", "snapshot", "one", "--name", "s" + std::to_string(i)}, static_cast<int>(random() % 15'000));
  }
  // Whoever was stopped for a snapshot that never ended goes on with the next command.
  EXPECT_EQ(harn({"session", "exec", "one", "--", "echo", "fine"}).out, "fine\n");
  ASSERT_EQ(harn({"session", "restore", "one", "first"}).exit_code, 0);
  std::ifstream back(dir_.path("work/f0").text());
  EXPECT_EQ((std::string{std::istreambuf_iterator<char>(back), {}}), std::string(20'000, 'a'));
  EXPECT_EQ(harn({"session", "terminate", "one"}).exit_code, 0);
}

// People work in the project too: what they wrote is in no snapshot of the session.
TEST_F(Faults, RestoringLosesNothingOfAProject) {
  const auto write = [&](const char* name, const char* text) { std::ofstream(dir_.path("work").join(name).text()) << text; };
  const auto read = [&](const char* name) {
    std::ifstream in(dir_.path("work").join(name).text());
    return std::string{std::istreambuf_iterator<char>(in), {}};
  };
  write("f", "first");
  ASSERT_EQ(harn({"session", "create", "--id", "one"}).exit_code, 0);
  ASSERT_EQ(harn({"session", "snapshot", "one", "--name", "s"}).exit_code, 0);
  EXPECT_EQ(harn({"session", "restore", "one", "s"}).out, "one is as it was in s\n") << "nothing stood there that the snapshot has not";
  write("f", "mine");
  write("hostfile", "mine too");
  const auto restored = harn({"session", "restore", "one", "s"});
  ASSERT_EQ(restored.exit_code, 0);
  EXPECT_EQ(read("f") + read("hostfile"), "first");
  const auto at = restored.out.find("kept-");
  ASSERT_NE(at, std::string::npos) << restored.out;
  const auto kept = restored.out.substr(at, restored.out.find('\n', at) - at);
  ASSERT_EQ(harn({"session", "restore", "one", kept}).out, "one is as it was in " + kept + "\n") << "what stood there was the snapshot s";
  EXPECT_EQ(read("f") + read("hostfile"), "minemine too");
  EXPECT_EQ(harn({"session", "terminate", "one"}).exit_code, 0);
}

}  // namespace
}  // namespace harn
