// SPDX-License-Identifier: Apache-2.0
// Two judges that know nothing of each other read our Seatbelt profiles: a C++ reading, which is compared with decide()
// in foreign_agreement_test, and Guile, a Scheme, which evaluates the text itself. They must agree on every question, and Guile with
// decide() as well.
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include <gtest/gtest.h>

#include "plan/lower.h"
#include "support/cases.h"
#include "support/generate.h"
#include "support/macos_decided.h"
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

struct Judged {
  std::uint64_t seed = 0;
  const PathRules& rules;
  const std::string& text;
  std::vector<AbsPath> paths = {};  // some of those that matter; each is one line
};
using Ask = std::function<void(std::string_view operation, const std::string& path, bool expected)>;

// Every profile is put to Guile with the questions that `ask_about` has, and the answers that it expects.
void compare_with_guile(std::uint64_t first_seed, const std::function<void(const Judged&, const Ask&)>& ask_about) {
  const TempDir place;
  std::vector<std::string> expected;
  std::size_t asked = 0;
  for (std::uint64_t i = 0; i < wanted_profiles; ++i) {
    const auto seed = first_seed + i;
    Random random(seed);
    const auto facts = random_facts(random, Platform::macos);
    const auto policy = plannable_policy(random, facts);
    const auto rules = PathRules::for_processes(policy, facts);
    const auto command = sample_command();
    Plan plan;
    plan.cwd = facts.cwd;
    ASSERT_TRUE(plan::lower_seatbelt({.policy = policy, .command = command, .facts = facts, .rules = rules}, plan)) << seed;
    const auto& text = std::get<Wrapper>(plan.confinement).profile;
    Judged profile{.seed = seed, .rules = rules, .text = text};
    const auto paths = interesting_paths(policy, facts);
    for (std::size_t at = seed % 7; at < paths.size(); at += 7)
      if (paths[at].text().find_first_of("\r\n") == std::string::npos) profile.paths.push_back(paths[at]);
    std::string questions;
    std::string answers;
    ask_about(profile, [&](std::string_view operation, const std::string& path, bool allowed) {
      questions += std::string(operation) + "\t" + path + "\n";
      answers += allowed ? "1\n" : "0\n";
      ++asked;
    });
    place.file(std::to_string(i) + ".sb", text);
    place.file(std::to_string(i) + ".ask", questions);
    expected.push_back(std::move(answers));
  }
  ASSERT_EQ(ask_guile(place, wanted_profiles), 0) << whole(place, "said");
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_EQ(whole(place, std::to_string(i) + ".says"), expected[i])
        << "profile " << i << "\n"
        << whole(place, std::to_string(i) + ".ask") << whole(place, std::to_string(i) + ".sb");
  EXPECT_GT(asked, wanted_profiles * 60);
}

TEST(SeatbeltOracle, GuileAgreesWithOurReading) {
  if (!has_guile()) GTEST_SKIP() << "skipped: guile-3.0 is not installed";
  compare_with_guile(1, [](const Judged& asked, const Ask& ask) {
    std::string problem;
    const auto profile = SbplProfile::parse(asked.text, problem);
    ASSERT_TRUE(profile) << problem;
    for (const auto& path : asked.paths)
      for (const auto* operation : operations) ask(operation, path.text(), profile->allows(operation, path.text()));
  });
}

// Without our own reading of profiles in between: Guile evaluates the text, and what it says is what decide() says.
TEST(SeatbeltOracle, GuileAgreesWithWhatIsDecided) {
  if (!has_guile()) GTEST_SKIP() << "skipped: guile-3.0 is not installed";
  compare_with_guile(100'000, [](const Judged& asked, const Ask& ask) {
    const auto guarded = guarded_places(asked.rules);
    for (const auto& path : asked.paths) {
      if (path.is_root()) continue;  // the loader lists it: the one stated exception
      const auto verdict = decided_on_macos(asked.rules, guarded, path);
      const auto* rule = nearest_by_any_name(asked.rules, path);
      const bool device = rule != nullptr && rule->origin == Origin::device;  // never executed, made or linked
      for (const auto& name : spellings(path.text())) {
        ask("file-read-data", name, verdict.read);
        ask("file-write-data", name, verdict.write);
        ask("file-write-unlink", name, verdict.remove);
        if (device) continue;
        ask("process-exec", name, verdict.read);
        ask("file-write-create", name, verdict.write);
        ask("file-link", name, verdict.write);
      }
    }
  });
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
