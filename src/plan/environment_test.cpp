// SPDX-License-Identifier: Apache-2.0
#include "plan/environment.h"

#include <gtest/gtest.h>

namespace harn::plan {
namespace {

// A policy under which nothing is added.
Policy connected() {
  Policy policy;
  policy.network = Network{.mode = NetworkMode::unrestricted};
  return policy;
}

TEST(Environment, CarriesTheRulesIntoThePlan) {
  Plan plan;
  plan_environment(connected(), {.argv = {"x"}, .cwd = {}, .environment = {{"PATH", "/bin"}, {"GITHUB_TOKEN", "s"}}}, plan);
  EXPECT_EQ(plan.env.variables, (std::map<std::string, std::string>{{"PATH", "/bin"}}));
  ASSERT_EQ(plan.env.removed.size(), 1u);
  EXPECT_EQ(plan.env.removed[0].name, "GITHUB_TOKEN");
  EXPECT_EQ(plan.coverage[Dimension::env].status, Enforcement::enforced);
}

TEST(Environment, NobodyLooksForUpdatesWhereTheNetworkIsLimited) {
  const auto variables = [](const Policy& policy, std::map<std::string, std::string> caller) {
    Plan plan;
    plan_environment(policy, {.argv = {"x"}, .environment = std::move(caller)}, plan);
    return plan.env.variables;
  };
  using Variables = std::map<std::string, std::string>;
  EXPECT_EQ(variables({}, {}), (Variables{{"NO_UPDATE_NOTIFIER", "1"}, {"npm_config_update_notifier", "false"}}));
  EXPECT_EQ(variables(connected(), {}), Variables{});
  EXPECT_EQ(variables({}, {{"npm_config_update_notifier", "true"}}).at("npm_config_update_notifier"), "true");
  Policy own;
  own.env.remove = {"NO_UPDATE_NOTIFIER"};
  own.env.set = {{"npm_config_update_notifier", "x"}};
  EXPECT_EQ(variables(own, {}), (Variables{{"npm_config_update_notifier", "x"}}));
  own.env.mode = EnvMode::replace;
  own.env.set.clear();
  EXPECT_EQ(variables(own, {}), Variables{}) << "an environment that is to be empty stays empty";
}

TEST(Environment, OnWindowsTheLetterCaseOfNamesDoesNotCount) {
  auto policy = connected();
  policy.env.remove = {"PATH", "OTHER"};
  policy.env.set = {{"other", "set"}, {"temp", "mine"}};
  policy.env.passthrough = {"npm_token"};
  const Command command{
      .argv = {"x"}, .environment = {{"Path", "p"}, {"NPM_TOKEN", "t"}, {"Temp", "host"}, {"Github_Token", "s"}, {"x", "1"}, {"X", "2"}}};
  Plan plan;
  plan_environment(policy, command, plan, Platform::windows);
  EXPECT_EQ(plan.env.variables, (std::map<std::string, std::string>{{"NPM_TOKEN", "t"}, {"Temp", "mine"}, {"X", "2"}}));
  Plan elsewhere;
  plan_environment(policy, command, elsewhere, Platform::linux);
  EXPECT_TRUE(elsewhere.env.variables.contains("Path")) << "there they are two names";
}

TEST(Environment, TemporaryDirectoriesPointInsideUnlessThePolicySetsThem) {
  Policy policy;
  policy.env.set["TMP"] = "/mine";
  policy.env.set["TMPPREFIX"] = "/mine/z";
  Plan plan;
  plan.env.variables = policy.env.set;
  point_temp_at(policy, "/tmp", plan);
  EXPECT_EQ(plan.env.variables,
            (std::map<std::string, std::string>{{"TEMP", "/tmp"}, {"TMP", "/mine"}, {"TMPDIR", "/tmp"}, {"TMPPREFIX", "/mine/z"}}));
  Plan bare;
  point_temp_at(Policy{}, "/t", bare);
  EXPECT_EQ(bare.env.variables["TMPPREFIX"], "/t/zsh");
}

}  // namespace
}  // namespace harn::plan
