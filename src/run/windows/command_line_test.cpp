// SPDX-License-Identifier: Apache-2.0
#include "run/windows/command_line.h"

#include <gtest/gtest.h>

#include "run/windows/split_line.h"

namespace harn::run::windows {
namespace {

std::string line_of(std::vector<std::string> argv) {
  const auto line = command_line(argv);
  return line ? *line : "error: " + line.error().message;
}

TEST(CommandLine, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(line_of({"a.exe", "b", "c d", "", "e\tf"}), "\"a.exe\" b \"c d\" \"\" \"e\tf\"");
  EXPECT_EQ(line_of({"a", "C:\\dir\\", "C:\\my dir\\"}), "\"a\" C:\\dir\\ \"C:\\my dir\\\\\"");
  EXPECT_EQ(line_of({"a", "say \"hi\"", "back\\\"slash"}), "\"a\" \"say \\\"hi\\\"\" \"back\\\\\\\"slash\"");
}

TEST(CommandLine, GivesEveryListOfWordsBack) {
  for (const auto& words : hard_arguments()) {
    const auto line = command_line(words);
    ASSERT_TRUE(line);
    EXPECT_EQ(split_line(*line), words) << *line;
  }
}

TEST(CommandLine, RefusesWhatNoLineCanCarry) {
  EXPECT_FALSE(command_line({}));
  EXPECT_FALSE(command_line(std::vector<std::string>{""}));
  EXPECT_FALSE(command_line(std::vector<std::string>{"a\"b.exe"}));
  EXPECT_FALSE(command_line(std::vector<std::string>{"a", std::string("x\0y", 3)}));
  EXPECT_FALSE(command_line(std::vector<std::string>{"a", "\xff"}));
  EXPECT_TRUE(command_line(std::vector<std::string>{"a", std::string(32000, 'x')}));
  EXPECT_FALSE(command_line(std::vector<std::string>{"a", std::string(32763, 'x')}));
}

TEST(CommandLine, BatchFilesAreKnownByTheirNameAsWindowsReadsIt) {
  for (const auto* name : {"a.bat", "C:/x/A.CMD", "a.cmd.", "a.bat . "}) EXPECT_TRUE(is_batch_file(name)) << name;
  for (const auto* name : {"a.exe", "bat", "a.cmd.exe", "cmd"}) EXPECT_FALSE(is_batch_file(name)) << name;
}

TEST(CommandLine, BatchFilesGetQuotedWordsOrNone) {
  const auto line = batch_command_line("C:\\W\\cmd.exe", "C:\\n\\npm.cmd", std::vector<std::string>{"run", "a & b", "", "dir\\"});
  ASSERT_TRUE(line);
  EXPECT_EQ(*line, "\"C:\\W\\cmd.exe\" /d /v:off /e:on /s /c \"\"C:\\n\\npm.cmd\" \"run\" \"a & b\" \"\" \"dir\\\\\"\"");
  for (const auto* word : {"\"&calc&\"", "%PATH%", "a\nb", "a\rb"}) {
    const auto refused = batch_command_line("cmd", "x.cmd", std::vector<std::string>{word});
    ASSERT_FALSE(refused) << word;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_command);
  }
  EXPECT_FALSE(batch_command_line("cmd", "C:\\100%\\x.cmd", {}));
}

}  // namespace
}  // namespace harn::run::windows
