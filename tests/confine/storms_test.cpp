// SPDX-License-Identifier: Apache-2.0
// Where a supervisor acts on behalf of the command, no thread that rewrites a path, swaps a descriptor,
// renames a parent or dies in the middle gets anything changed outside, or stops the supervisor.
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "confine/support/stand.h"
#include "confine/support/ways.h"
#include "support/cases.h"

namespace harn::confine {
namespace {

// HARN_STORMS asks for more than a test run has time for.
long calls_of(Way way) {
  if (way == Way::unconfined) return 1'000;  // enough to see that they bite
  const char* asked = std::getenv("HARN_STORMS");
  return asked != nullptr ? std::strtol(asked, nullptr, 10) : test::cases_of(4'000L);
}

std::vector<Case> cases_for(Way way) {
  const auto often = std::to_string(calls_of(way));
  const auto seldom = std::to_string(calls_of(way) / 20);
  return {
      {.id = "text_outside", .probe = "storm_of_texts", .args = {"{work}/s1", "{own}/secret", often}},
      {.id = "text_kept", .probe = "storm_of_texts", .args = {"{work}/s2", "{work}/.git/hooks/pre-commit", often}},
      {.id = "text_absent", .probe = "storm_of_texts", .args = {"{work}/s3", "{work}/.envrc", often}},
      {.id = "descriptors", .probe = "storm_of_descriptors", .args = {"{work}/s4", "{shared}", often}},
      {.id = "names_outside", .probe = "storm_of_names", .args = {"{work}/s5", "{own}", often}},
      {.id = "names_denied", .probe = "storm_of_names", .args = {"{work}/s6", "{work}/deep/denied", often}},
      {.id = "addresses", .probe = "storm_of_addresses", .args = {"{work}/s9", "{outside}/stream.sock", often}, .counter = "stream"},
      {.id = "binds", .probe = "storm_of_binds", .args = {"{work}/s10", "{work}/.envrc", often}},
      {.id = "kills", .probe = "storm_of_kills", .args = {"{work}/s11", "{pid}", often}, .counter = "urg"},
      {.id = "signals", .probe = "storm_of_signals", .args = {"{work}/s7", seldom}},
      {.id = "deaths", .probe = "storm_of_deaths", .args = {"{work}/s8", seldom}},
  };
}

// Everything that must stay as it is.
std::string untouchable(const Scene& scene) {
  std::string out;
  for (const auto* place : {"outside", "shared", "home/.ssh"}) out += scene.fingerprint_of(scene.path(place));
  for (const auto* place : {"/.git/config", "/.git/hooks", "/harn.toml", "/.vscode", "/fixed", "/deep/denied"})
    out += scene.fingerprint_of(scene.path("work") + place);
  return out;
}

class Storms : public testing::TestWithParam<Stand> {};

TEST_P(Storms, PassOver) {
  if (const auto missing = missing_here(GetParam().way); !missing.empty()) GTEST_SKIP() << missing;
  const auto cases = cases_for(GetParam().way);
  Scene scene(GetParam().uid, cases);
  const auto before = untouchable(scene);
  const auto told = run_cases(GetParam(), scene, cases);
  EXPECT_EQ(told.exit_code, 0);
  if (GetParam().way == Way::unconfined) {
    EXPECT_NE(untouchable(scene), before) << "nothing was attacked, so nothing is shown";
    return;
  }
  for (const auto& row : cases) EXPECT_EQ(told.words.contains(row.id) ? told.words.find(row.id)->second : "never ran", "ok") << row.id;
  EXPECT_EQ(untouchable(scene), before);
  auto counts = scene.end_victim();
  for (const auto& row : cases) {
    if (row.counter.empty()) continue;
    EXPECT_EQ(counts[std::string(row.counter)], 0) << row.id << ": somebody outside noticed";
  }
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::symlink_status(scene.path("work") + "/.envrc")));
}

std::vector<Stand> all() {
  std::vector<Stand> out;
  for (const auto& stand : stands())
    if (stand.way == Way::bare || stand.way == Way::unconfined) out.push_back(stand);
  return out;
}

INSTANTIATE_TEST_SUITE_P(Supervised, Storms, testing::ValuesIn(all()), [](const auto& row) { return row.param.name(); });

}  // namespace
}  // namespace harn::confine
