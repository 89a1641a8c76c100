// SPDX-License-Identifier: Apache-2.0
// What fails for reasons of its own is nobody's refusal, and what works is not one either.
#include <gtest/gtest.h>

#include "explain/explained.h"

namespace harn::test {
namespace {

struct Row {
  std::string_view name;
  std::string_view setup;
  std::string_view script;
  std::string_view flags = {};
};

constexpr Row rows[] = {
    {"Nothing", "", "true"},
    {"ModeBitsInTheProject", "echo x > f; chmod 000 f", "cat f"},
    {"ModeBitsOutside", "echo x > {O}/f; chmod 000 {O}/f", "cat {O}/f"},
    {"ModeBitsOfADirectory", "mkdir {O}/d; echo x > {O}/d/f; chmod 000 {O}/d", "cat {O}/d/f"},
    {"ModeBitsForWriting", "echo x > {O}/f; chmod 444 {O}/f", "echo y > {O}/f"},
    {"ModeBitsOfTheDirectoryAround", "mkdir {O}/d; chmod 555 {O}/d", "echo y > {O}/d/f"},
    {"NothingThere", "", "cat {O}/nothing; cat nothing; ls {O}/nowhere/at/all; stat /nonexistent"},
    {"ALinkIntoNothing", "ln -s /nonexistent l; ln -s {O}/nothing m", "cat l m"},
    {"ALoopOfLinks", "ln -s a b; ln -s b a", "cat a"},
    {"NotExecutable", "echo x > {O}/f; echo x > f", "{O}/f; ./f"},
    {"NoSuchProgram", "", "no-such-program-anywhere"},
    {"AFileIsNoDirectory", "echo x > f", "ls f/g; mkdir f/h"},
    {"ThereAlready", "mkdir d; echo x > f", "mkdir d; ln -s x f"},
    {"NotEmpty", "mkdir d; echo x > d/f", "rmdir d"},
    {"AClosedPort", "", "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 1))'", "--loopback"},
    {"AnAbsentSocket", "", "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"/nonexistent/socket\")'", "--loopback"},
    {"OrdinaryWork", "",
     "mkdir -p a/b && echo x > a/b/c && mv a/b/c a/d && ln -s d a/e && cat a/e && chmod 600 a/d && rm -r a && sh -c 'exit 3'"},
    {"ARepositoryOfItsOwn", "",
     "git init -q r && cd r && git config user.email a@b && git config user.name A && echo x > f && git add f && git commit -qm one && git "
     "status -s"},
    {"ACompiler", "printf 'int main(void){return 0;}' > m.c", "cc m.c -o m && ./m"},
};

class ExplainNothing : public testing::TestWithParam<std::tuple<Row, Stand>> {};

TEST_P(ExplainNothing, NobodyIsBlamed) {
  const auto& [row, stand] = GetParam();
  const Explaining setting(stand);
  setting.prepare(row.setup);
  const auto ran = setting.run(words_of(setting.fill(row.flags)), row.script);
  for (const auto& told : ran.denials) {
    // Without namespaces sockets are refused before anybody sees an address.
    if (stand.tier == Tier::bare && told.access == "call" && told.target.starts_with("AF_")) continue;
    ADD_FAILURE() << told.access << " " << told.target << ": " << told.rule << "\n" << ran.all;
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, ExplainNothing, testing::Combine(testing::ValuesIn(rows), testing::ValuesIn(explain_stands())),
                         [](const auto& row) { return std::string(std::get<0>(row.param).name) + std::get<1>(row.param).name(); });

class ExplainCommand : public testing::TestWithParam<Stand> {};

// A command that cannot be started is seen by nobody inside.
TEST_P(ExplainCommand, ThatCannotBeStartedIsExplained) {
  const Explaining setting(GetParam());
  setting.prepare("cp /bin/true {O}/prog");
  const auto ran = setting.run_words({}, {setting.fill("{O}/prog")});
  EXPECT_NE(ran.exit_code, 0);
  EXPECT_NE(ran.all.find("allow it with " + setting.fill("--read {O}/prog")), std::string::npos) << ran.all;
  EXPECT_EQ(setting.run_words({"--read", setting.fill("{O}/prog")}, {setting.fill("{O}/prog")}).exit_code, 0);
}

// The line of processes from the command down to who did it.
TEST_P(ExplainCommand, TellsWhoDidIt) {
  const Explaining setting(GetParam());
  setting.prepare("echo x > {O}/f");
  const auto ran = setting.run({}, "sh -c 'cat {O}/f; true'; true");
  ASSERT_EQ(ran.denials.size(), 1u) << ran.all;
  const auto& processes = ran.denials[0].processes;
  ASSERT_EQ(processes.size(), 3u);
  EXPECT_TRUE(processes[0].starts_with("sh[") && processes[1].starts_with("sh[") && processes[2].starts_with("cat[")) << ran.all;
}

// The same again and again is said once, and many different ones do not stop the command.
TEST_P(ExplainCommand, SaysEverythingOnce) {
  const Explaining setting(GetParam());
  setting.prepare("for i in $(seq 300); do echo x > {O}/f$i; done");
  const auto once = setting.run({}, "for i in $(seq 100); do cat {O}/f1; done 2>/dev/null; true");
  EXPECT_EQ(once.denials.size(), 1u) << once.all;
  const auto many = setting.run({}, "for i in $(seq 300); do read x < {O}/f$i; done 2>/dev/null; true");
  EXPECT_EQ(many.denials.size(), 201u);
  EXPECT_EQ(many.exit_code, 0);
  EXPECT_EQ(many.denials.back().target, "100 more");
}

INSTANTIATE_TEST_SUITE_P(Stands, ExplainCommand, testing::ValuesIn(explain_stands()), [](const auto& row) { return row.param.name(); });

}  // namespace
}  // namespace harn::test
