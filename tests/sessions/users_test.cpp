// SPDX-License-Identifier: Apache-2.0
// Two users on one machine: neither sees, enters or disturbs the sessions of the other.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <tuple>

#include "cli/run_program.h"
#include "support/temp_dir.h"

namespace harn {
namespace {

namespace fs = std::filesystem;

constexpr unsigned owner = 65533;
constexpr unsigned other = 65532;

class Users : public testing::Test {
 protected:
  Users() {
    fs::permissions(dir_.root(), fs::perms(0755));
    for (const auto uid : {owner, other})
      for (const auto* part : {"home", "work", "run"}) {
        const auto place = dir_.directory(std::to_string(uid) + "/" + part).text();
        ::chmod(place.c_str(), std::string_view(part) == "run" ? 0700 : 0755);
        std::ignore = ::chown(place.c_str(), uid, uid);
      }
    fs::copy_file(HARN_BINARY, dir_.path("harn").text());
  }

  // As this user, with that user's places.
  test::ProgramRun as(unsigned uid, unsigned places, std::vector<std::string> words) const {
    std::vector<std::string> argv = {"/usr/bin/setpriv",  "--reuid",        std::to_string(uid),     "--regid",
                                     std::to_string(uid), "--clear-groups", dir_.path("harn").text()};
    argv.insert(argv.end(), words.begin(), words.end());
    const auto base = std::to_string(places) + "/";
    return test::run_program({.argv = argv,
                              .environment = {{"HOME", dir_.path(base + "home").text()},
                                              {"PATH", "/usr/bin:/bin"},
                                              {"XDG_RUNTIME_DIR", dir_.path(base + "run").text()}},
                              .cwd = dir_.path(base + "work"),
                              .scratch = dir_.path()});
  }

  test::TempDir dir_;
};

TEST_F(Users, CannotSeeEnterOrDisturbEachOther) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be two users";
  ASSERT_EQ(as(owner, owner, {"session", "create", "--id", "mine"}).exit_code, 0);
  EXPECT_EQ(as(other, other, {"session", "list"}).out, "");
  EXPECT_EQ(as(other, other, {"session", "exec", "mine", "--", "true"}).exit_code, 125);
  // Not even where one looks in the other's places.
  EXPECT_NE(as(other, owner, {"session", "exec", "mine", "--", "true"}).exit_code, 0);
  EXPECT_NE(as(other, owner, {"session", "terminate", "mine"}).exit_code, 0);
  as(other, owner, {"session", "gc"});
  // Nor where every directory on the way was opened by mistake: the keeper asks who it is.
  for (const auto& entry : fs::recursive_directory_iterator(dir_.path(std::to_string(owner)).text())) {
    std::error_code ignored;
    fs::permissions(entry, fs::is_directory(entry) ? fs::perms(0777) : fs::perms(0666), ignored);
  }
  fs::permissions(dir_.path(std::to_string(owner) + "/run").text(), fs::perms(0777));
  EXPECT_NE(as(other, owner, {"session", "exec", "mine", "--", "true"}).exit_code, 0);
  // Its owner refuses such a place as well, until it is closed again.
  EXPECT_NE(as(owner, owner, {"session", "exec", "mine", "--", "true"}).exit_code, 0);
  for (const auto& entry : fs::recursive_directory_iterator(dir_.path(std::to_string(owner)).text())) {
    std::error_code ignored;
    if (fs::is_directory(entry)) fs::permissions(entry, fs::perms(0700), ignored);
  }
  EXPECT_EQ(as(owner, owner, {"session", "exec", "mine", "--", "echo", "mine"}).out, "mine\n");
  EXPECT_EQ(as(owner, owner, {"session", "terminate", "mine"}).exit_code, 0);
}

}  // namespace
}  // namespace harn
