// SPDX-License-Identifier: Apache-2.0
#include "cli/render.h"

#include <gtest/gtest.h>

#include "cli/render_plan.h"
#include "cli/trust.h"
#include "harn/plan.h"

namespace harn::cli {
namespace {

using Lines = std::vector<std::string>;

TEST(Render, WrapsAtSpacesAndKeepsLongWordsWhole) {
  EXPECT_EQ(wrapped("one two  three", 7), (Lines{"one two", "three"}));
  EXPECT_EQ(wrapped("incomprehensible x", 5), (Lines{"incomprehensible", "x"}));
  EXPECT_EQ(wrapped("", 5), Lines{""});
}

TEST(Render, ColourOnlyWhereWanted) {
  EXPECT_EQ(coloured("x", Colour::red, false), "x");
  EXPECT_EQ(coloured("x", Colour::red, true), "\x1b[31mx\x1b[0m");
}

TEST(Render, ErrorsHaveTwoForms) {
  const Error error{
      .code = ErrorCode::invalid_policy, .stage = Stage::parse, .message = "'x' is wrong", .hint = "write y", .where = "p.toml:1:2"};
  EXPECT_EQ(error_text(error), "harn: p.toml:1:2: 'x' is wrong\n  hint: write y\n");
  EXPECT_EQ(error_text({.message = "no"}), "harn: no\n");
  EXPECT_EQ(error_json(error), R"({
  "error": {
    "code": "invalid_policy",
    "category": "invalid_policy",
    "stage": "parse",
    "message": "'x' is wrong",
    "hint": "write y",
    "where": "p.toml:1:2"
  }
}
)");
}

TEST(Render, RefusalsAndMistakesExitDifferently) {
  for (const auto code : {ErrorCode::not_supported, ErrorCode::not_available, ErrorCode::refused, ErrorCode::os, ErrorCode::internal})
    EXPECT_EQ(exit_code_of({.code = code}), 125) << name_of(code);
  for (const auto code : {ErrorCode::invalid_policy, ErrorCode::invalid_command, ErrorCode::io, ErrorCode::protocol})
    EXPECT_EQ(exit_code_of({.code = code}), 2) << name_of(code);
}

TEST(Render, APictureShowsPathsCoverageGapsAndRefusal) {
  HostFacts facts;
  facts.home = AbsPath::of("/home/me");
  facts.paths["/p"].kind = PathKind::directory;
  facts.paths["/p/.envrc"].kind = PathKind::file;
  Policy policy;
  policy.workspace_roots = {AbsPath::of("/p")};
  policy.process_sandbox.presets.emplace();
  policy.limits = {.max_output_bytes = 2048, .cpu_milli = 1500, .idle_timeout = std::chrono::milliseconds(120000)};
  Plan plan;
  plan.route = Route::refused;
  plan.backend = Backend::linux;
  plan.host = "h";
  plan.policy_digest = "policy-1";
  plan.argv = {"make", "a b"};
  plan.cwd = AbsPath::of("/p");
  plan.env.removed = {{"A_TOKEN", "secret pattern *_TOKEN"}};
  plan.tried = {{Backend::firejail, "not installed"}};
  plan.coverage[Dimension::reads] = {Enforcement::enforced, {"view", "landlock"}, ""};
  plan.coverage[Dimension::writes] = {Enforcement::degraded, {"landlock"}, "a name may appear"};
  plan.coverage[Dimension::network] = {Enforcement::not_enforced, {}, "nothing enforces it"};
  plan.coverage.gaps = {{Dimension::writes, "absent_protected_name", {AbsPath::of("/p/.mcp.json")}, "it may be created", "use namespaces"}};
  plan.notes = {"from the plan"};
  plan.refusal = Refusal{.message = "it may not run", .hint = "do better"};
  const auto rules = PathRules::for_processes(policy, facts);
  const std::vector<std::string> notes = {"from composing"};
  const auto text = picture_of({.plan = plan, .policy = policy, .rules = rules, .notes = notes});
  for (const std::string line : {"Plan for make 'a b'",
                                 "  backend   linux, route refused, profile worktree",
                                 "  skipped   firejail: not installed",
                                 "  write     /p (workspace)",
                                 "  read      /p/.envrc (protected)",
                                 "  network   none",
                                 "  limits    output 2K, cpus 1.500, idle 2m",
                                 "  env       0 kept, 1 removed: A_TOKEN",
                                 "  reads              enforced     view landlock",
                                 "  writes             degraded     landlock; a name may appear",
                                 "  network            not_enforced nothing enforces it",
                                 "  absent_protected_name (writes)",
                                 "            it may be created",
                                 "    at      /p/.mcp.json",
                                 "    remedy  use namespaces",
                                 "            from the plan",
                                 "            from composing",
                                 "Refused",
                                 "            it may not run",
                                 "  hint      do better"})
    EXPECT_NE(("\n" + text).find("\n" + line + "\n"), std::string::npos) << line << "\nin\n" << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(Trust, LinesAreADigestAndAPath) {
  const SourceText source{.path = AbsPath::of("/p/harn.toml"), .text = "x"};
  const auto digest = trust_digest(source);
  EXPECT_EQ(digest.size(), 64u);
  EXPECT_NE(digest, trust_digest({.path = AbsPath::of("/q/harn.toml"), .text = "x"}));
  EXPECT_NE(digest, trust_digest({.path = AbsPath::of("/p/harn.toml"), .text = "y"}));
  const std::vector<TrustedFile> files = {{digest, "/p/harn.toml"}, {digest, "/a b/harn.toml"}};
  EXPECT_EQ(parse_trusted(print_trusted(files)), files);
  EXPECT_EQ(parse_trusted("nonsense\n\n# comment\nabc  /x\n"), std::vector<TrustedFile>{});
}

}  // namespace
}  // namespace harn::cli
