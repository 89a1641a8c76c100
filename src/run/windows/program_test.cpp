// SPDX-License-Identifier: Apache-2.0
#include "run/windows/program.h"

#include <gtest/gtest.h>

#include <set>

namespace harn::run::windows {
namespace {

std::string found(std::string_view word) {
  static const std::set<std::string> files = {"C:/bin/tool.exe", "C:/bin/npm.cmd", "C:/bin/npm", "C:/other/tool.exe",
                                              "C:/w/local.exe",  "C:/w/sub/x.exe", "D:/y.com"};
  const auto path = find_program(word, AbsPath::of("C:/w"), {{"Path", "relative; \"C:\\bin\" ;C:\\other;/posix"}},
                                 [](const AbsPath& file) { return files.contains(file.text()); });
  return path ? path->text() : "error";
}

TEST(Program, ComesFromThePathAndNeverFromTheWorkingDirectory) {
  EXPECT_EQ(found("tool"), "C:/bin/tool.exe");
  EXPECT_EQ(found("tool.exe"), "C:/bin/tool.exe");
  EXPECT_EQ(found("local"), "error");
  EXPECT_EQ(found("local.exe"), "error");
  EXPECT_EQ(found("missing"), "error");
}

TEST(Program, OnlyWhatCanBeStarted) { EXPECT_EQ(found("npm"), "C:/bin/npm.cmd") << "the script beside it is for another shell"; }

TEST(Program, PathsAreTakenAsTheyAre) {
  EXPECT_EQ(found(".\\local"), "C:/w/local.exe");
  EXPECT_EQ(found("sub/x.exe"), "C:/w/sub/x.exe");
  EXPECT_EQ(found("D:\\y"), "D:/y.com");
  EXPECT_EQ(found("\\bin\\tool"), "C:/bin/tool.exe");
  EXPECT_EQ(found("D:y"), "error");
  EXPECT_EQ(found("\\\\server\\share\\x.exe"), "error");
  EXPECT_EQ(found("\\\\.\\pipe\\x.exe"), "error");
}

TEST(Program, NativePathsHaveBackslashes) { EXPECT_EQ(native_path(AbsPath::of("C:/a b/c")), "C:\\a b\\c"); }

}  // namespace
}  // namespace harn::run::windows
