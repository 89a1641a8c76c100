// SPDX-License-Identifier: Apache-2.0
#include "learn/programs.h"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "support/temp_dir.h"

namespace harn::learn {
namespace {

TEST(Interpreter, IsReadFromAScriptsFirstLine) {
  EXPECT_EQ(interpreter_in("#!/bin/sh\necho"), "/bin/sh");
  EXPECT_EQ(interpreter_in("#! /usr/bin/env python3\n"), "/usr/bin/env");
  EXPECT_EQ(interpreter_in("#!/bin/sh"), "/bin/sh");
  EXPECT_EQ(interpreter_in("echo hello"), "");
  EXPECT_EQ(interpreter_in(""), "");
  EXPECT_EQ(interpreter_in("\x7f"
                           "ELF"),
            "")
      << "cut short";
}

TEST(OpenedToStart, FollowsLinksAndInterpreters) {
  const test::TempDir temp;
  const auto script = temp.root() + "/script";
  std::ofstream(script) << "#!" << temp.root() << "/interpreter\n";
  ASSERT_EQ(::chmod(script.c_str(), 0755), 0);
  ASSERT_EQ(::symlink("/bin/sh", (temp.root() + "/interpreter").c_str()), 0);
  const auto opened = opened_to_start(AbsPath::of(script));
  const auto has = [&](const std::string& path) { return std::ranges::find(opened, AbsPath::of(path)) != opened.end(); };
  EXPECT_TRUE(has(script));
  EXPECT_TRUE(has(temp.root() + "/interpreter"));
  EXPECT_TRUE(std::ranges::any_of(opened, [](const AbsPath& path) { return path.text().find("ld-") != std::string::npos; }))
      << "the loader";
  EXPECT_EQ(find_program("script", AbsPath::of("/"), "/nowhere:" + temp.root())->text(), script);
  EXPECT_EQ(find_program("./script", AbsPath::of(temp.root()), "")->text(), script);
  EXPECT_FALSE(find_program("absent", AbsPath::of("/"), temp.root()));
}

}  // namespace
}  // namespace harn::learn
