// SPDX-License-Identifier: Apache-2.0
// Two judges that know nothing of each other read our Seatbelt profiles: a C++ reading, which is compared with decide()
// in foreign_agreement_test, and Guile, a Scheme, which evaluates the text itself. They must agree on every question.
#include <stdlib.h>
#include <unistd.h>

#include <fstream>

#include <gtest/gtest.h>

#include "plan/lower.h"
#include "support/cases.h"
#include "support/generate.h"
#include "support/sbpl.h"
#include "support/temp_dir.h"

namespace harn::test {
namespace {

const std::uint64_t wanted_profiles = cases_of<std::uint64_t>(200);

constexpr const char* operations[] = {"file-read-data",    "file-read-metadata", "file-write-data", "file-write-create",
                                      "file-write-unlink", "file-link",          "process-exec",    "file-map-executable",
                                      "file-write-mode",   "file-ioctl"};

bool has_guile() { return ::access("/usr/bin/guile", X_OK) == 0; }

int ask_guile(const TempDir& place, std::uint64_t count) {
  const auto command = "GUILE_AUTO_COMPILE=0 LC_ALL=C /usr/bin/guile " HARN_SOURCE_DIR "/tests/laws/sbpl_oracle.scm " + place.root() + " " +
                       std::to_string(count) + " >" + place.root() + "/said 2>&1";
  return std::system(command.c_str());  // words of our own only
}

std::string whole(const TempDir& place, const std::string& name) {
  std::ifstream file(place.path(name).text(), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(SeatbeltOracle, GuileAgreesWithOurReading) {
  if (!has_guile()) GTEST_SKIP() << "skipped: guile-3.0 is not installed";
  const TempDir place;
  std::vector<std::string> expected;
  for (std::uint64_t seed = 1; seed <= wanted_profiles; ++seed) {
    Random random(seed);
    const auto facts = random_facts(random, Platform::macos);
    const auto policy = plannable_policy(random, facts);
    const auto rules = PathRules::for_processes(policy, facts);
    const auto command = sample_command();
    Plan plan;
    plan.cwd = facts.cwd;
    ASSERT_TRUE(plan::lower_seatbelt({.policy = policy, .command = command, .facts = facts, .rules = rules}, plan)) << seed;
    const auto& text = std::get<Wrapper>(plan.confinement).profile;
    std::string problem;
    const auto profile = SbplProfile::parse(text, problem);
    ASSERT_TRUE(profile) << problem;
    std::string questions;
    std::string answers;
    const auto paths = interesting_paths(policy, facts);
    for (std::size_t i = seed % 7; i < paths.size(); i += 7) {
      const auto& path = paths[i].text();
      if (path.find('\n') != std::string::npos || path.find('\r') != std::string::npos) continue;  // a question is one line
      for (const auto* operation : operations) {
        questions += std::string(operation) + "\t" + path + "\n";
        answers += profile->allows(operation, path) ? "1\n" : "0\n";
      }
    }
    const auto name = std::to_string(seed - 1);
    place.file(name + ".sb", text);
    place.file(name + ".ask", questions);
    expected.push_back(std::move(answers));
  }
  ASSERT_EQ(ask_guile(place, wanted_profiles), 0) << whole(place, "said");
  std::size_t asked = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(whole(place, std::to_string(i) + ".says"), expected[i]) << "profile " << i << "\n" << whole(place, std::to_string(i) + ".sb");
    asked += expected[i].size() / 2;
  }
  EXPECT_GT(asked, wanted_profiles * 100);
}

// A judge that accepts anything would agree with everybody.
TEST(SeatbeltOracle, GuileRefusesWhatIsNoProfile) {
  if (!has_guile()) GTEST_SKIP() << "skipped: guile-3.0 is not installed";
  const std::pair<const char*, bool> rows[] = {
      {"(version 1)\n(deny default)\n(allow file-read* (subpath \"/w\"))\n", true},
      {"(version 1)\n(deny default)\n(allow file-read* (sub-path \"/w\"))\n", false},
      {"(version 1)\n(deny default)\n(allow file-reed* (subpath \"/w\"))\n", false},
      {"(version 1)\n(deny default)\n(allow file-read* (subpath \"/w\")\n", false},
      {"(version 1)\n(deny default)\n(allow signal (target others))\n", false},
      {"(version 2)\n", false},
  };
  for (const auto& [text, right] : rows) {
    const TempDir place;
    place.file("0.sb", text);
    place.file("0.ask", "file-read-data\t/w/x\nfile-read-data\t/wx\n");
    EXPECT_EQ(ask_guile(place, 1) == 0, right) << text << whole(place, "said");
    if (right) {
      EXPECT_EQ(whole(place, "0.says"), "1\n0\n");
    }
  }
}

}  // namespace
}  // namespace harn::test
