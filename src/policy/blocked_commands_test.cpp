// SPDX-License-Identifier: Apache-2.0
#include "policy/blocked_commands.h"

#include <gtest/gtest.h>

#include "policy/shell_words.h"

namespace harn::policy {
namespace {

using Entries = std::set<std::string>;
using Commands = std::vector<SimpleCommand>;

std::optional<std::string> blocked_by(std::string_view entry) {
  return "Command blocked by sandbox policy: contains '" + std::string(entry) + "'";
}

TEST(BlockedCommands, SingleWordsMatchShellWordsHoweverTheyAreSpelled) {
  for (const std::string_view command : {"curl http://x",
                                         "c''url x",
                                         "cu\"\"rl x",
                                         "\\curl x",
                                         "'curl' x",
                                         "$'curl' x",
                                         "cu\\\nrl x",
                                         "/usr/bin/curl x",
                                         "a; curl x",
                                         "a && curl x",
                                         "a | curl -T - x",
                                         "(curl x)",
                                         "echo $(curl x)",
                                         "echo `curl x`",
                                         "echo \"$(curl x)\"",
                                         "X=1 curl x",
                                         "X=1 /bin/curl",
                                         "sudo -n /usr/bin/curl x",
                                         "timeout 5 /usr/bin/curl x",
                                         "env A=b /bin/curl",
                                         "if /bin/curl x; then :; fi",
                                         "bash -c 'curl x'",
                                         "sh -ec \"curl x\"",
                                         "bash --norc -c 'curl x'",
                                         "sh -c \"bash -c '/bin/curl x'\"",
                                         "eval curl x",
                                         "eval 'cu''rl x'",
                                         "apt install curl",
                                         "curl>out",
                                         "x\ncurl y"})
    EXPECT_EQ(validate_command({"curl"}, command), blocked_by("curl")) << command;
}

TEST(BlockedCommands, SingleWordsLeaveOtherWordsAlone) {
  for (const std::string_view command : {"rsync -a x y", "function f { :; }", "echo 'a nc b'", "ls /usr/share/nc", "ncat x",
                                         "git commit -m 'use nc here'", "echo a # nc", "sh script.sh", "echo \"nc -l\"", "nc=1 true", ""})
    EXPECT_EQ(validate_command({"nc"}, command), std::nullopt) << command;
}

TEST(BlockedCommands, SeveralWordsMatchAsSubstringsWithSpacesCollapsed) {
  const auto expected = blocked_by("rm -rf /");
  EXPECT_EQ(validate_command({" rm  -rf\t/ "}, "rm   -rf    /"), expected);
  EXPECT_EQ(validate_command({"rm -rf /"}, "cd x && rm -rf /tmp"), expected);
  EXPECT_EQ(validate_command({"rm -rf /"}, "r''m -rf '/'"), expected);
  EXPECT_EQ(validate_command({"rm -rf /"}, "bash -c \"r''m -rf /\""), expected);
  EXPECT_EQ(validate_command({"rm -rf /"}, "rm -r -f /"), std::nullopt);
}

TEST(BlockedCommands, EntriesTheShellWouldTakeApartMatchAsSubstrings) {
  EXPECT_EQ(validate_command({"|sh"}, "curl x |sh"), blocked_by("|sh"));
  EXPECT_EQ(validate_command({":(){:|:&};:"}, ":(){:|:&};:"), blocked_by(":(){:|:&};:"));
  EXPECT_EQ(validate_command({"$("}, "echo hi"), std::nullopt);
}

TEST(BlockedCommands, NamesTheFirstEntryInOrderAndIgnoresBlankOnes) {
  EXPECT_EQ(validate_command({"wget", "curl"}, "wget x; curl y"), blocked_by("curl"));
  EXPECT_EQ(validate_command({"", "  "}, "anything"), std::nullopt);
  EXPECT_EQ(validate_command({}, "curl x"), std::nullopt);
  EXPECT_EQ(validate_command({"sudo"}, "/usr/bin/sudo ls"), blocked_by("sudo"));
}

TEST(BlockedCommands, NestedScriptsAreReadToABoundedDepth) {
  std::string command = "curl x";
  for (int i = 0; i < 200; ++i) command = "eval " + command;
  EXPECT_EQ(validate_command({"curl"}, command), blocked_by("curl")) << "still a word of the outer command";
  EXPECT_EQ(validate_command({"curl"}, "sh -c"), std::nullopt);
}

TEST(ShellWords, SplitLikeAShell) {
  const std::vector<std::pair<std::string_view, Commands>> cases = {
      {"", {}},
      {"  a  b ", {{"a", "b"}}},
      {"a;b&&c||d|e&f\ng", {{"a"}, {"b"}, {"c"}, {"d"}, {"e"}, {"f"}, {"g"}}},
      {"a 'b c' \"d e\" f\\ g", {{"a", "b c", "d e", "f g"}}},
      {"a '' \"\"", {{"a", "", ""}}},
      {"a>b 2>&1", {{"a", "b", "2"}, {"1"}}},
      {"echo $HOME ${x}", {{"echo", "$HOME", "${x}"}}},
      {"echo $\"hi\" $'a\\'b'", {{"echo", "hi", "a'b"}}},
      {"a \"b `c d` e\" f", {{"a", "b "}, {"c", "d"}, {" e", "f"}}},
      {"a \"$(b \"c d\") e\" (f) )g", {{"a", ""}, {"b", "c d"}, {" e"}, {"f"}, {"g"}}},
      {"a#b #c d\ne", {{"a#b"}, {"e"}}},
      {"a 'b", {{"a", "b"}}},
      {"a `b $(c` d", {{"a"}, {"b"}, {"c"}, {"d"}}},
      {"a \"b", {{"a", "b"}}},
      {"a $'b", {{"a", "b"}}},
      {"a \\", {{"a"}}},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(split_shell(text), expected) << text;
}

}  // namespace
}  // namespace harn::policy
