// SPDX-License-Identifier: Apache-2.0
// A disk that is really full: a small tmpfs, in a mount namespace of its own.
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include <gtest/gtest.h>

#include "cli/run_program.h"
#include "harn/audit.h"
#include "support/temp_dir.h"

namespace harn::test {
namespace {

void put(const char* file, const std::string& text) { std::ofstream(file) << text; }

// A mount namespace, for an ordinary user inside a user namespace in which he stays who he is.
bool leave_the_mounts_alone() {
  if (::unshare(CLONE_NEWNS) == 0) return true;
  const auto user = std::to_string(::getuid());
  const auto group = std::to_string(::getgid());
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  put("/proc/self/setgroups", "deny");
  put("/proc/self/uid_map", user + " " + user + " 1");
  put("/proc/self/gid_map", group + " " + group + " 1");
  return true;
}

bool mount_small(const AbsPath& path) {
  return ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("tmpfs", path.text().c_str(), "tmpfs", 0, "size=64k,mode=700") == 0;
}

void fill(const AbsPath& directory) {
  std::ofstream file(directory.join("filler").text(), std::ios::binary);
  const std::string block(1024, 'x');
  while (file.write(block.data(), static_cast<std::streamsize>(block.size())) && file.flush()) {
  }
}

// A check that fails ends the child with its line.
#define REQUIRE(condition) \
  if (!(condition)) ::_exit(__LINE__ % 256)

[[noreturn]] void in_a_full_place(const TempDir& temp) {
  const auto state = temp.path("state");
  REQUIRE(mount_small(state));
  const auto project = temp.path("project");
  const auto run = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {HARN_BINARY, "run"});
    return run_program({.argv = std::move(words),
                        .environment = {{"HOME", temp.path("home").text()}, {"PATH", "/usr/bin:/bin"}, {"XDG_STATE_HOME", state.text()}},
                        .cwd = project,
                        .scratch = temp.path()});
  };
  const auto log = state.join("harn/audit");
  REQUIRE(run({"--", "true"}).exit_code == 0);
  const auto before = verify_audit_log(log);
  REQUIRE(before && before->intact() && before->events == 4);
  fill(state);

  // The last page of the log may have room for a run or two.
  ProgramRun warned;
  for (int i = 0; i < 10 && warned.err.find("not recorded") == std::string::npos; ++i) {
    warned = run({"--", "echo", "ran"});
    REQUIRE(warned.exit_code == 0);
    REQUIRE(warned.out == "ran\n");
  }
  REQUIRE(warned.err.find("is not recorded: write ") != std::string::npos);
  REQUIRE(warned.err.find("No space left on device") != std::string::npos);
  const auto refused = run({"--profile", "os_hardened", "--", "touch", "ran"});
  REQUIRE(refused.exit_code == 125);
  REQUIRE(refused.err.find("under os_hardened nothing runs unrecorded") != std::string::npos);
  REQUIRE(!std::filesystem::exists(project.join("ran").text()));
  const auto full = verify_audit_log(log);
  REQUIRE(full && full->intact());

  std::filesystem::remove(state.join("filler").text());
  REQUIRE(run({"--profile", "os_hardened", "--", "touch", "ran"}).exit_code == 0);
  const auto after = verify_audit_log(log);
  REQUIRE(after && after->intact() && after->events > full->events);
  ::_exit(0);
}

TEST(AuditFullDisk, WarnsAndRunsUnderWorktreeAndRefusesUnderOsHardened) {
  const TempDir temp;
  temp.directory("state");
  temp.directory("project");
  temp.directory("home");
  const pid_t child = ::fork();
  if (child == 0) {
    if (!leave_the_mounts_alone()) ::_exit(77);
    in_a_full_place(temp);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "this user may not mount";
  EXPECT_EQ(WEXITSTATUS(status), 0) << "the line that failed, modulo 256";
}

}  // namespace
}  // namespace harn::test
