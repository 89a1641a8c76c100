// SPDX-License-Identifier: Apache-2.0
// Every case × every host, as the native text of the host's platform. A case is two small files and
// needs no code: cases/NAME/policy.toml and command.json; hosts/*.json are canned facts. A change of
// policy meaning shows up in review as a change of what a kernel will be told.
// HARN_UPDATE_GOLDEN=1 (./dev golden) rewrites the expectations.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/json.h"
#include "base/text.h"
#include "harn/plan.h"
#include "harn/policy_text.h"
#include "plan/names.h"

namespace harn::test {
namespace {

namespace fs = std::filesystem;

const fs::path golden = fs::path(HARN_SOURCE_DIR) / "tests/golden";

std::string slurp(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> names_in(const fs::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

// "{project}", "{home}" and "{root}" stand for the host's own directories, so that one case fits every platform.
std::string fill_in(std::string text, const HostFacts& facts) {
  const std::pair<std::string, std::string> places[] = {
      {"{project}", facts.project_root.text()}, {"{home}", facts.home.text()}, {"{root}", facts.platform == Platform::windows ? "C:" : ""}};
  for (const auto& [word, value] : places)
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word)) text.replace(at, word.size(), value);
  return text;
}

Command read_command(const std::string& text) {
  Command command;
  const auto value = base::parse_json(text);
  for (const auto& word : value->find("argv")->array()) command.argv.push_back(word.string());
  if (const auto* env = value->find("environment"))
    for (const auto& member : env->object()) command.environment[member.name] = member.value.string();
  return command;
}

std::string coverage_text(const Coverage& coverage) {
  std::string out;
  for (std::size_t i = 0; i < dimension_count; ++i) {
    const auto dimension = static_cast<Dimension>(i);
    const auto& entry = coverage[dimension];
    out += std::string(base::enum_name(dimension)) + ": " + std::string(base::enum_name(entry.status));
    for (const auto& layer : entry.layers) out += " " + layer;
    out += "\n";
  }
  for (const auto& gap : coverage.gaps) {
    out += "gap " + gap.code + " (" + std::string(base::enum_name(gap.dimension)) + "): " + gap.detail + "\n";
    for (const auto& path : gap.paths) out += "    " + path.text() + "\n";
  }
  return out;
}

std::string plan_text(const Plan& plan) {
  std::string out = "route " + std::string(base::enum_name(plan.route)) + ", backend " + std::string(base::enum_name(plan.backend)) +
                    ", profile " + std::string(base::enum_name(plan.profile)) + "\n";
  for (const auto& word : plan.argv) out += (&word == &plan.argv.front() ? "command " : " ") + base::shell_word(word);
  out += "\n";
  if (plan.scratch) out += "scratch " + plan.scratch->text() + "\n";
  if (plan.refusal) out += "refused: " + plan.refusal->message + "\nhint: " + plan.refusal->hint + "\n";
  for (const auto& note : plan.notes) out += "note: " + note + "\n";
  for (const auto& entry : plan.tried) out += "tried " + std::string(base::enum_name(entry.backend)) + ": " + entry.why_not + "\n";
  for (const auto& gone : plan.env.removed) out += "env removed " + gone.name + ": " + gone.why + "\n";
  return out + "\n" + coverage_text(plan.coverage) + "\n" + native_text(plan);
}

struct Rendered {
  std::string text;
  std::string suffix = "txt";
};

Rendered render(const std::string& case_name, const std::string& host_name) {
  const auto facts = facts_from_json(slurp(golden / "hosts" / (host_name + ".json")));
  if (!facts) return {"facts: " + describe(facts.error()) + "\n"};
  const auto policy = parse_policy_toml(fill_in(slurp(golden / "cases" / case_name / "policy.toml"), *facts),
                                        {.home = facts->home, .file_name = "policy.toml"});
  if (!policy) return {"policy: " + describe(policy.error()) + "\n"};
  const auto plan = make_plan(*policy, read_command(slurp(golden / "cases" / case_name / "command.json")), *facts);
  if (!plan) return {"error " + std::string(name_of(plan.error().code)) + ": " + describe(plan.error()) + "\n"};
  const auto again = plan_from_json(plan_to_json(*plan));
  EXPECT_TRUE(again && *again == *plan) << case_name << " on " << host_name << " does not round-trip through JSON";
  return {plan_text(*plan), native_suffix(*plan)};
}

TEST(Golden, EveryPlanIsAsReviewed) {
  const bool update = std::getenv("HARN_UPDATE_GOLDEN") != nullptr;
  if (update) fs::remove_all(golden / "expect");
  std::size_t compared = 0;
  std::vector<fs::path> known;
  for (const auto& case_name : names_in(golden / "cases")) {
    for (const auto& host_name : names_in(golden / "hosts")) {
      const auto rendered = render(case_name, host_name);
      const auto path = golden / "expect" / case_name / (host_name + "." + rendered.suffix);
      known.push_back(path);
      ++compared;
      if (update) {
        fs::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << rendered.text;
        continue;
      }
      ASSERT_TRUE(fs::exists(path)) << path << " is missing; run ./dev golden and review the diff";
      EXPECT_EQ(slurp(path), rendered.text) << path << " drifted; run ./dev golden and review the diff";
    }
  }
  EXPECT_GE(compared, 12u * 8u);
  for (const auto& entry : fs::recursive_directory_iterator(golden / "expect")) {
    const bool expected = !entry.is_regular_file() || std::find(known.begin(), known.end(), entry.path()) != known.end();
    EXPECT_TRUE(expected) << entry.path() << " belongs to no case";
  }
}

}  // namespace
}  // namespace harn::test
