// SPDX-License-Identifier: Apache-2.0
// Linux 5.10 as a system call filter sees it: no Landlock, no mount_setattr, no close_range that marks. The real one
// is booted by ./dev kernels.
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "usability/person.h"

namespace harn::test {
namespace {

constexpr unsigned landlock_create_ruleset = 444;  // the same number everywhere

// This process and whatever it starts. Empty, or why not.
std::string take_away_new_calls() {
  constexpr unsigned answer = SECCOMP_RET_ERRNO | ENOSYS;
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mount_setattr, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, landlock_create_ruleset, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, answer),
  };
  const sock_fprog filter = {.len = std::size(program), .filter = program};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) != 0)
    return "no system call filter can be set here";
  return {};
}

class OldKernel : public testing::TestWithParam<Who> {
 protected:
  void SetUp() override {
    static const std::string why_not = take_away_new_calls();
    if (!why_not.empty()) GTEST_SKIP() << why_not;
    ASSERT_EQ(::syscall(SYS_mount_setattr, -1, "", 0, nullptr, 0), -1);
    ASSERT_EQ(errno, ENOSYS);
  }

  Person person_{GetParam()};
};

TEST_P(OldKernel, TheViewHolds) {
  const auto secret = person_.file("outside/secret", "the secret");
  const auto run =
      person_.harn({"run", "--profile", "os_hardened", "--", "sh", "-c", "echo made > inside; cat " + secret + "; cat inside"});
  EXPECT_EQ(run.out, "made\n") << run.err;
  EXPECT_NE(run.err.find("No such file"), std::string::npos) << run.err;
}

TEST_P(OldKernel, PlacesKeepTheirKind) {
  person_.file("project/kept/file", "as it was");
  person_.file("project/closed/file", "not to be read");
  const auto run = person_.harn(
      {"run", "--deny", "closed", "--read", "kept", "--", "sh", "-c",
       "echo new > kept/file; cat closed/file; chmod 600 /dev/null; echo x > /etc/harn-test; echo fine > /tmp/fine && cat /tmp/fine"});
  EXPECT_EQ(run.out, "fine\n") << run.err;
  EXPECT_EQ(read_whole(person_.project() + "/kept/file"), "as it was");
  EXPECT_NE(run.err.find("closed/file"), std::string::npos) << run.err;
}

TEST_P(OldKernel, DescriptorsStayOutside) {
  const auto secret = person_.file("outside/open", "the secret");
  const int fd = ::open(secret.c_str(), O_RDONLY);  // not closed on exec
  ASSERT_GE(fd, 3);
  const auto run = person_.sh("cat <&" + std::to_string(fd) + "; ls /proc/self/fd");
  ::close(fd);
  EXPECT_EQ(run.out.find("secret"), std::string::npos);
  EXPECT_EQ(run.out.find(std::to_string(fd) + "\n" + std::to_string(fd)), std::string::npos);
  EXPECT_NE(run.err.find("Bad file descriptor"), std::string::npos) << run.err << run.out;
}

TEST_P(OldKernel, NamedHostsAreRelayed) {
  const auto run = person_.harn({"run", "--allow-host", "127.0.0.1:9", "--", "sh", "-c", "echo ran"});
  EXPECT_EQ(run.out, "ran\n") << run.err;
}

// A tree is read-only with everything that is mounted in it.
TEST_P(OldKernel, MountsBeneathAreNarrowedToo) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root mounts something beneath";
  const auto within = person_.file("shared/beneath/deep/er/file", "as it was");
  const auto point = person_.root() + "/shared/beneath";
  ASSERT_EQ(::unshare(CLONE_NEWNS), 0);
  ASSERT_EQ(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
  ASSERT_EQ(::mount("tmpfs", point.c_str(), "tmpfs", 0, "mode=1777"), 0);
  ASSERT_EQ(::mkdir((point + "/with space").c_str(), 01777), 0);
  ASSERT_EQ(::mount("tmpfs", (point + "/with space").c_str(), "tmpfs", MS_NODEV, "mode=1777"), 0);
  const auto attempt = "touch " + point + "/made; touch '" + point + "/with space/made'";
  EXPECT_EQ(finish(person_.start_program({"/bin/sh", "-c", attempt})), 0) << "outside it may";
  EXPECT_TRUE(std::filesystem::remove(point + "/made") && std::filesystem::remove(point + "/with space/made"));

  const auto run = person_.harn({"run", "--read", person_.root() + "/shared", "--", "sh", "-c", attempt});
  EXPECT_NE(run.exit_code, 0);
  EXPECT_NE(run.err.find("Read-only file system"), std::string::npos) << run.err;
  EXPECT_FALSE(std::filesystem::exists(point + "/made") || std::filesystem::exists(point + "/with space/made"));
  ::umount2(point.c_str(), MNT_DETACH);
}

INSTANTIATE_TEST_SUITE_P(People, OldKernel, testing::ValuesIn(everybody()), testing::PrintToStringParamName());

}  // namespace
}  // namespace harn::test
