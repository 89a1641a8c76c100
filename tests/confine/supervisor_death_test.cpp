// SPDX-License-Identifier: Apache-2.0
// Whoever ends the supervisor, at whatever moment, ends everybody it answers for; and no call is left half done.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "confine/support/scene.h"
#include "confine/support/tools.h"
#include "confine/support/ways.h"

namespace harn::confine {
namespace {

using namespace std::chrono_literals;

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<pid_t> children_of(pid_t process) {
  std::ifstream list("/proc/" + std::to_string(process) + "/task/" + std::to_string(process) + "/children");
  std::vector<pid_t> out;
  for (pid_t child = 0; list >> child;) out.push_back(child);
  return out;
}

pid_t supervisor_beneath(pid_t harn) {
  for (const auto child : children_of(harn))
    if (read("/proc/" + std::to_string(child) + "/comm") == "harn-supervisor\n") return child;
  return 0;
}

// Processes whose command line names this directory.
int alive_in(const std::string& directory) {
  int count = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    pid_t process = 0;
    const auto name = entry.path().filename().string();
    if (std::from_chars(name.data(), name.data() + name.size(), process).ec != std::errc()) continue;
    const auto words = read(entry.path() / "cmdline");
    if (words.find("endless_changes") != std::string::npos && words.find(directory) != std::string::npos &&
        words.find("--backend") == std::string::npos)
      ++count;
  }
  return count;
}

template <class Condition>
bool within(std::chrono::seconds time, Condition condition) {
  for (const auto end = std::chrono::steady_clock::now() + time; !condition(); std::this_thread::sleep_for(2ms))
    if (std::chrono::steady_clock::now() > end) return false;
  return true;
}

pid_t start(const Scene& scene, const std::string& directory) {
  const std::vector<std::string> words = {scene.path("tools") + "/harn",
                                          "run",
                                          "--backend",
                                          "linux",
                                          "--read",
                                          scene.path("tools"),
                                          "--write",
                                          scene.path("work"),
                                          "--",
                                          scene.path("tools") + "/harn_probe",
                                          "--one",
                                          "endless_changes",
                                          directory,
                                          "3",
                                          "60"};
  const std::vector<std::string> variables = {"PATH=/usr/bin:/bin", "HOME=" + scene.path("home"), "HARN_PRETEND=userns=no"};
  std::vector<char*> argv;
  std::vector<char*> envp;
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  for (const auto& word : variables) envp.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  const pid_t child = ::fork();
  if (child != 0) return child;
  become(scene.uid());
  if (::chdir(scene.path("work").c_str()) != 0 || ::freopen("/dev/null", "w", stderr) == nullptr) ::_exit(1);
  ::execve(argv[0], argv.data(), envp.data());
  ::_exit(1);
}

long deaths() {
  const char* asked = std::getenv("HARN_DEATHS");
  return asked != nullptr ? std::strtol(asked, nullptr, 10) : 30;
}

TEST(SupervisorDeath, EndsTheTreeAndLeavesNothingHalfDone) {
  if (const auto missing = missing_here(Way::bare); !missing.empty()) GTEST_SKIP() << missing;
  Scene scene(::getuid() == 0 ? 65534 : ::getuid(), {});
  const auto directory = scene.path("work") + "/bin";
  for (const auto* name : {"/a", "/b"}) {
    std::ofstream(directory + name) << name;
    std::filesystem::permissions(directory + name, std::filesystem::perms::all);
  }
  const auto outside = scene.fingerprint_of(scene.path("outside"));
  // What works here is tried once, with supervisors of its own; those are not meant.
  ASSERT_EQ(run({.argv = {scene.path("tools") + "/harn", "run", "--backend", "linux", "--write", scene.path("work"), "--", "/bin/true"},
                 .environment = {{"PATH", "/usr/bin:/bin"}, {"HOME", scene.path("home")}, {"HARN_PRETEND", "userns=no"}},
                 .cwd = scene.path("work"),
                 .uid = scene.uid()})
                .exit_code,
            0);
  std::mt19937 random(7);
  for (long i = 0; i < deaths(); ++i) {
    const pid_t harn = start(scene, directory);
    pid_t supervisor = 0;
    ASSERT_TRUE(within(20s, [&] { return (supervisor = supervisor_beneath(harn)) != 0; })) << "round " << i;
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 30'000));
    ::kill(supervisor, SIGKILL);
    int status = 0;
    ASSERT_TRUE(within(20s, [&] { return ::waitpid(harn, &status, WNOHANG) == harn; })) << "round " << i;
    EXPECT_NE(status, 0) << "round " << i;
    EXPECT_TRUE(within(20s, [&] { return alive_in(directory) == 0; })) << "round " << i << ": somebody lives on";
    // Exchanged or not, both are there and whole.
    const auto both = read(directory + "/a") + read(directory + "/b");
    EXPECT_TRUE(both == "/a/b" || both == "/b/a") << both;
  }
  EXPECT_EQ(scene.fingerprint_of(scene.path("outside")), outside);
}

}  // namespace
}  // namespace harn::confine
