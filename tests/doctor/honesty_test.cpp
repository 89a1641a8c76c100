// SPDX-License-Identifier: Apache-2.0
// What receipts claim is what attacks measure, on hosts that lack one thing or another; and a strict
// profile refuses exactly where something asked for is not enforced.
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "base/json.h"
#include "cli/run_program.h"
#include "support/temp_dir.h"

namespace harn::test {
namespace {

class PretendedHost : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    temp_.directory("project");
    temp_.directory("scratch");
    temp_.file("project/harn.toml");
    temp_.file("home/.ssh/id_rsa", "not a key\n");
  }

  ProgramRun harn(std::vector<std::string> words) {
    words.insert(words.begin(), HARN_BINARY);
    return run_program({.argv = std::move(words),
                        .environment = {{"HOME", temp_.path("home").text()},
                                        {"PATH", "/usr/bin:/bin"},
                                        {"XDG_RUNTIME_DIR", HARN_TEST_RUNTIME},
                                        {"HARN_PRETEND", GetParam()}},
                        .cwd = temp_.path("project"),
                        .scratch = temp_.path("scratch")});
  }

  // Dimension → what the receipt of a real run says is in force.
  std::map<std::string, std::string> claims_of_a_run() {
    const auto run = harn({"run", "--json", "--", "true"});
    std::map<std::string, std::string> claims;
    const auto outcome = base::parse_json(run.out);
    if (!outcome || outcome->find("receipt") == nullptr) {
      ADD_FAILURE() << run.out << run.err;
      return claims;
    }
    for (const auto& row : outcome->find("receipt")->find("dimensions")->object()) claims[row.name] = row.value.find("effective")->string();
    return claims;
  }

  std::set<std::string> names_in_project() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(temp_.path("project").text())) names.insert(entry.path().filename());
    return names;
  }

  TempDir temp_;
};

using Verdicts = std::multimap<std::string, std::string>;  // dimension → verdict of each attack on it

Verdicts verdicts_of(const base::Value& report) {
  Verdicts verdicts;
  for (const auto& row : report.find("attacks")->array()) {
    const auto* dimension = row.find("dimension");
    const auto verdict = row.find("verdict")->string();
    verdicts.emplace(dimension == nullptr ? "" : dimension->string(), verdict);
    const std::set<std::string> fine = {"conforms", "not_measured", "not_enforced"};
    EXPECT_TRUE(fine.contains(verdict)) << base::print_json(row, 2);
  }
  return verdicts;
}

bool some(const Verdicts& verdicts, const std::string& dimension, std::string_view wanted) {
  const auto [first, last] = verdicts.equal_range(dimension);
  return std::any_of(first, last, [&](const auto& row) { return row.second == wanted; });
}

TEST_P(PretendedHost, ReceiptsClaimWhatAttacksMeasure) {
  const auto claims = claims_of_a_run();
  const auto run = harn({"doctor", "sandbox", "--json"});
  const auto report = base::parse_json(run.out);
  ASSERT_TRUE(report && report->find("attacks") != nullptr) << run.out << run.err;
  for (const auto& row : report->find("claims")->object()) EXPECT_EQ(claims.at(row.name), row.value.string()) << row.name;
  const auto verdicts = verdicts_of(*report);
  EXPECT_EQ(run.exit_code, 0);
  bool whole = true;
  for (const auto& [dimension, claim] : claims) {
    EXPECT_FALSE(claim == "enforced" && some(verdicts, dimension, "not_enforced")) << dimension;
    whole = whole && claim != "not_enforced";
  }
  // These are open everywhere or nowhere, so a gap that is claimed can be seen.
  for (const auto* dimension : {"metadata", "signals", "network"})
    EXPECT_TRUE(claims.at(dimension) != "not_enforced" || some(verdicts, dimension, "not_enforced")) << dimension;
  EXPECT_EQ(harn({"run", "--profile", "os_hardened", "--", "true"}).exit_code, whole ? 0 : 125);
  EXPECT_EQ(names_in_project(), std::set<std::string>{"harn.toml"});
}

INSTANTIATE_TEST_SUITE_P(Hosts, PretendedHost,
                         testing::Values("", "landlock=6", "landlock=5", "landlock=4", "landlock=3", "landlock=2", "landlock=1",
                                         "landlock=no", "userns=no", "userns=no,landlock=6", "userns=no,landlock=5", "userns=no,landlock=4",
                                         "userns=no,landlock=3", "userns=no,landlock=2", "userns=no,landlock=1", "netns=no", "seccomp=no",
                                         "userns=no,seccomp=no", "landlock=no,seccomp=no", "landlock=no,seccomp=no,netns=no", "cgroup=no",
                                         "notify=no", "userns=no,landlock=no", "userns=no,landlock=no,bubblewrap=no",
                                         "userns=no,landlock=no,bubblewrap=no,firejail=no"));

}  // namespace
}  // namespace harn::test
