// SPDX-License-Identifier: Apache-2.0
// Every scenario file becomes tests named after its scenarios; what needs a loop is written out below.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "base/text.h"
#include "cli/run_program.h"
#include "cli/scenario.h"
#include "support/temp_dir.h"

namespace harn::test {
namespace {

class ScenarioTest : public testing::Test {
 public:
  explicit ScenarioTest(Scenario scenario) : scenario_(std::move(scenario)) {}
  void TestBody() override {
    for (const auto& problem : play(scenario_)) ADD_FAILURE() << problem;
  }

 private:
  Scenario scenario_;
};

std::string test_name(std::string_view title) {
  std::string name;
  for (const char c : title) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

void register_scenarios() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(HARN_SOURCE_DIR "/tests/cli/scenarios"))
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& path : files) {
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (const auto& scenario : read_scenarios(path.filename(), text)) {
      testing::RegisterTest(test_name(path.stem().string()).c_str(), test_name(scenario.title).c_str(), nullptr, nullptr, __FILE__,
                            __LINE__, [scenario]() -> ScenarioTest* { return new ScenarioTest(scenario); });
    }
  }
}

ProgramRun harn(std::vector<std::string> words, const TempDir& temp) {
  words.insert(words.begin(), HARN_BINARY);
  return run_program({.argv = std::move(words),
                      .environment = {{"HOME", temp.root()}, {"PATH", "/usr/bin:/bin"}},
                      .cwd = temp.path(),
                      .scratch = temp.path()});
}

TEST(Completion, BashAcceptsAndUsesTheScript) {
  const TempDir temp;
  const auto script = temp.file("harn.bash", harn({"completion", "bash"}, temp).out);
  const auto complete = [&](const std::string& words) {
    const auto program =
        "source " + script.text() + "; COMP_WORDS=(" + words + "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _harn; echo \"${COMPREPLY[*]}\"";
    return run_program({.argv = {"/bin/bash", "-c", program}, .cwd = temp.path(), .scratch = temp.path()});
  };
  EXPECT_EQ(run_program({.argv = {"/bin/bash", "-n", script.text()}, .cwd = temp.path(), .scratch = temp.path()}).exit_code, 0);
  EXPECT_EQ(complete("harn pol").out, "policy\n");
  EXPECT_EQ(complete("harn policy i").out, "intersect import\n");
  EXPECT_EQ(complete("harn plan --prof").out, "--profile\n");
  EXPECT_EQ(complete("harn plan --profile os").out, "os_hardened\n");
  EXPECT_EQ(complete("harn policy import --from h").out, "harness\n");
  EXPECT_EQ(complete("harn completion z").out, "zsh\n");
  EXPECT_EQ(complete("harn policy check harn.b").out, "harn.bash\n");
  EXPECT_EQ(complete("harn plan --memory 1").out, "\n");
}

// Balanced quotes and blocks are all a machine without these shells can check.
TEST(Completion, OtherShellsGetBalancedScripts) {
  const TempDir temp;
  for (const std::string shell : {"zsh", "fish"}) {
    const auto run = harn({"completion", shell}, temp);
    EXPECT_EQ(run.exit_code, 0);
    for (const auto line : base::split(run.out, '\n')) {
      std::string bare(line);
      for (std::size_t at; (at = bare.find("'\\''")) != std::string::npos;) bare.erase(at, 4);
      EXPECT_EQ(std::count(bare.begin(), bare.end(), '\'') % 2, 0) << shell << ": " << line;
    }
  }
}

TEST(Main, ADeletedWorkingDirectoryIsNamed) {
  const TempDir temp;
  const auto program = "mkdir gone && cd gone && rmdir ../gone && exec " HARN_BINARY " plan --write . -- true";
  const auto run = run_program({.argv = {"/bin/sh", "-c", program}, .cwd = temp.path(), .scratch = temp.path()});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.err, "harn: the working directory does not exist any more\n  hint: change to one that does\n");
}

// The list of trusted files is lines of digest and path: this path would smuggle in a digest nobody accepted.
TEST(Trust, APathThatBreaksTheLineIsRefusedAndNothingIsRecorded) {
  const TempDir temp;
  const auto directory = "p\n" + std::string(64, 'a') + "  x";
  temp.file("plain/harn.toml", "sandbox_profile = \"worktree\"\n");
  temp.file(directory + "/harn.toml", "sandbox_profile = \"worktree\"\n");
  const auto refused = harn({"trust", directory + "/harn.toml"}, temp);
  EXPECT_EQ(refused.exit_code, 125);
  EXPECT_NE(refused.err.find("contains a control character"), std::string::npos) << refused.err;
  EXPECT_EQ(harn({"trust", "--list"}, temp).out, "");
  EXPECT_EQ(harn({"trust", "plain/harn.toml"}, temp).exit_code, 0);
  EXPECT_EQ(std::ranges::count(harn({"trust", "--list"}, temp).out, '\n'), 1);
}

TEST(Trust, WithoutAnyHomeNothingIsKeptAnywhere) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become a user without an account";
  const TempDir temp;
  temp.file("harn.toml");
  std::filesystem::permissions(temp.root(), std::filesystem::perms::others_exec | std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  const auto run =
      run_program({.argv = {"/usr/bin/setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups", HARN_BINARY, "trust"},
                   .cwd = temp.path(),
                   .scratch = temp.path()});
  EXPECT_EQ(run.exit_code, 125);
  EXPECT_EQ(run.err, "harn: there is no home directory to keep the list of trusted files in\n  hint: set HOME or XDG_STATE_HOME\n");
}

TEST(Help, NoLineIsLongerThanAScreenIsWide) {
  const TempDir temp;
  for (const std::vector<std::string>& words : {std::vector<std::string>{"help"},
                                                {"help", "run"},
                                                {"help", "plan"},
                                                {"help", "policy"},
                                                {"help", "policy", "within"},
                                                {"policy", "import", "--help"},
                                                {"trust", "-h"}}) {
    const auto run = harn(words, temp);
    EXPECT_EQ(run.exit_code, 0) << words.back();
    EXPECT_FALSE(run.out.empty()) << words.back();
    for (const auto line : base::split(run.out, '\n')) EXPECT_LE(line.size(), 80u) << line;
  }
}

}  // namespace
}  // namespace harn::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  harn::test::register_scenarios();
  return RUN_ALL_TESTS();
}
