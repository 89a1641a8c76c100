// SPDX-License-Identifier: Apache-2.0
#include "plan/macos/seatbelt_paths.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace harn::plan {
namespace {

using Ops = std::vector<std::string>;

HostFacts mac() {
  HostFacts facts;
  facts.platform = Platform::macos;
  facts.home = AbsPath::of("/Users/me");
  facts.unlisted = PathKind::directory;
  return facts;
}

Policy writable(std::string_view root) {
  Policy policy;
  policy.workspace_roots = {AbsPath::of(root)};
  policy.process_sandbox.presets.emplace();
  // Without protected names the expected rules stay short.
  policy.unprotect = {AbsPath::of(root)};
  return policy;
}

std::vector<SbplRule> rules_of(const Policy& policy, const HostFacts& facts = mac()) {
  auto rules = seatbelt_path_rules(PathRules::for_processes(policy, facts));
  // Devices and the data volume are the same in every profile and have tests of their own.
  std::erase_if(rules, [](const SbplRule& rule) {
    return rule.why == "devices" || rule.why == "no device is ever removed" || rule.why.starts_with("everything here");
  });
  return rules;
}

SbplFilter under(std::string path) { return {SbplMatch::subpath, std::move(path)}; }
SbplFilter exactly(std::string path) { return {SbplMatch::literal, std::move(path)}; }

const Ops read = {"file-read*", "file-map-executable", "process-exec*"};
const Ops write = {"file-write*", "file-link"};
const Ops all = {"file-read*", "file-map-executable", "process-exec*", "file-write*", "file-link"};
const std::string way = "directories on the way to what is open, by name only";
const std::string pins = "a directory that was moved away could be made again without what is protected inside";

TEST(SeatbeltPaths, WritesChildrenAfterParentsSoThatTheLastMatchIsTheNearest) {
  auto policy = writable("/w");
  policy.read_only_roots = {AbsPath::of("/w/docs")};
  policy.process_sandbox.read_deny_roots = {AbsPath::of("/w/docs/secret")};
  policy.process_sandbox.write_roots = {AbsPath::of("/w/docs/secret/drop")};
  policy.unprotect->push_back(AbsPath::of("/w/docs/secret/drop"));
  const std::vector<SbplRule> expected = {
      {true, all, {under("/w")}, "workspace"},
      {false, write, {under("/w/docs")}, "read-only roots"},
      {false, read, {under("/w/docs/secret")}, "denied by the policy"},
      {true, all, {under("/w/docs/secret/drop")}, "roots the policy lets processes write"},
      {true, {"file-read-metadata"}, {exactly("/dev"), exactly("/w"), exactly("/w/docs"), exactly("/w/docs/secret")}, way},
      {false, {"file-write-unlink"}, {exactly("/w")}, pins},
  };
  EXPECT_EQ(rules_of(policy), expected);
}

TEST(SeatbeltPaths, JudgesBothNamesOfWhatLiesInPrivate) {
  struct Row {
    std::string_view root;
    std::vector<SbplFilter> filters;
  };
  const Row rows[] = {
      {"/tmp/x", {under("/private/tmp/x"), under("/tmp/x")}},
      {"/private/var/x", {under("/private/var/x"), under("/var/x")}},
      {"/etc", {under("/private/etc"), under("/etc")}},
      {"/private", {under("/private"), under("/tmp"), under("/var"), under("/etc")}},
      {"/private/other", {under("/private/other")}},
      {"/tmpx", {under("/tmpx")}},
      {"/System/Volumes/Data/Users/me", {under("/Users/me")}},
      {"/", {under("/")}},
  };
  for (const auto& row : rows) {
    Policy policy;
    policy.workspace_roots.emplace();
    policy.read_only_roots = {AbsPath::of(row.root)};
    policy.process_sandbox.presets.emplace();
    const auto rules = rules_of(policy);
    ASSERT_FALSE(rules.empty());
    EXPECT_EQ(rules.front(), (SbplRule{true, read, row.filters, "read-only roots"})) << row.root;
  }
}

TEST(SeatbeltPaths, DenyBeatsWriteBeatsReadWhereTwoNamesMeet) {
  Policy policy;
  policy.process_sandbox.presets.emplace();
  policy.workspace_roots = {AbsPath::of("/tmp/a"), AbsPath::of("/tmp/b")};
  policy.unprotect = *policy.workspace_roots;
  policy.read_only_roots = {AbsPath::of("/private/tmp/a")};
  policy.process_sandbox.read_deny_roots = {AbsPath::of("/private/tmp/b")};
  const auto merged = macos_resolved(PathRules::for_processes(policy, mac()));
  std::vector<std::pair<std::string, Access>> found;
  for (const auto& rule : merged)
    if (rule.origin != Origin::device) found.emplace_back(rule.path.text(), rule.access);
  // The compiled rules know one spelling only, so the denial of /private/tmp/b meets the grant of /tmp/b and wins.
  const std::vector<std::pair<std::string, Access>> expected = {{"/private/tmp/a", Access::write}};
  EXPECT_EQ(found, expected);
}

TEST(SeatbeltPaths, AbsentNamesAreRefusedInEveryLetterCase) {
  auto facts = mac();
  facts.paths["/w/No.env"] = {.kind = PathKind::missing};
  auto policy = writable("/w");
  policy.process_sandbox.read_deny_roots = {AbsPath::of("/w/No.env"), AbsPath::of("/w/there")};
  const auto rules = rules_of(policy, facts);
  ASSERT_GE(rules.size(), 3u);
  EXPECT_EQ(rules[1], (SbplRule{false, all, {under("/w/No.env"), under("/w/there")}, "denied by the policy"}));
  EXPECT_EQ(rules[2], (SbplRule{false,
                                write,
                                {{SbplMatch::regex, R"(^/w/[nN][oO]\.[eE][nN][vV](/|$))"}},
                                "absent names in other letter case, which the usual volume does not tell apart"}));
}

TEST(SeatbeltPaths, PinsEveryWritableDirectoryAroundAGuardedPath) {
  auto policy = writable("/tmp/w");
  policy.process_sandbox.read_deny_roots = {AbsPath::of("/tmp/w/a/b/secret")};
  const auto rules = rules_of(policy);
  ASSERT_FALSE(rules.empty());
  EXPECT_EQ(rules.back(), (SbplRule{false,
                                    {"file-write-unlink"},
                                    {exactly("/private/tmp/w"), exactly("/tmp/w"), exactly("/private/tmp/w/a"), exactly("/tmp/w/a"),
                                     exactly("/private/tmp/w/a/b"), exactly("/tmp/w/a/b")},
                                    pins}));
}

TEST(SeatbeltPaths, TellsDeletingFromWriting) {
  struct Row {
    std::set<WorkspaceOp> held;
    Ops workspace;
    Ops last;
  };
  const Row rows[] = {
      {{WorkspaceOp::read_text, WorkspaceOp::write_text}, all, {"file-write-unlink"}},
      {{WorkspaceOp::read_text, WorkspaceOp::delete_},
       {"file-read*", "file-map-executable", "process-exec*", "file-write-unlink"},
       {"file-read-metadata"}},
      {{WorkspaceOp::read_text}, read, {"file-read-metadata"}},
  };
  for (const auto& row : rows) {
    auto policy = writable("/w");
    policy.capabilities = Capabilities{.workspace = row.held, .process = {ProcessOp::exec}};
    const auto rules = rules_of(policy);
    ASSERT_FALSE(rules.empty());
    EXPECT_EQ(rules.front().operations, row.workspace);
    EXPECT_EQ(rules.back().operations, row.last);
  }
}

TEST(SeatbeltPaths, DevicesAreNeitherExecutedNorRemoved) {
  const auto rules = seatbelt_path_rules(PathRules::for_processes(writable("/w"), mac()));
  std::vector<SbplRule> devices;
  for (const auto& rule : rules)
    if (rule.why == "devices" || rule.why == "no device is ever removed") devices.push_back(rule);
  ASSERT_GE(devices.size(), 2u);
  for (const auto& rule : devices)
    for (const auto& operation : rule.operations)
      EXPECT_TRUE(operation == "file-read*" || operation == "file-write*" || operation == "file-write-unlink") << operation;
  EXPECT_FALSE(devices.back().allow);
  EXPECT_EQ(devices.back().filters,
            (std::vector{under("/dev/fd"), under("/dev/null"), under("/dev/stderr"), under("/dev/stdout"), under("/dev/tty")}));
}

TEST(SeatbeltPaths, DevicesTakeWritesWhereTheFilesDoNot) {
  auto policy = writable("/w");
  policy.capabilities = Capabilities{.workspace = {WorkspaceOp::read_text}, .process = {ProcessOp::exec}};
  std::vector<SbplRule> devices;
  for (const auto& rule : seatbelt_path_rules(PathRules::for_processes(policy, mac())))
    if (rule.why == "devices" || rule.why == "no device is ever removed") devices.push_back(rule);
  ASSERT_FALSE(devices.empty());
  EXPECT_EQ(devices.front(), (SbplRule{true, {"file-read*", "file-write*"}, {under("/dev/fd"), under("/dev/null")}, "devices"}));
  EXPECT_EQ(devices.back().operations, Ops{"file-write-unlink"});
  EXPECT_FALSE(devices.back().allow);
}

TEST(SeatbeltPaths, TheDataVolumeIsClosedUnderItsOtherName) {
  const auto rules = seatbelt_path_rules(PathRules::for_processes(writable("/w"), mac()));
  EXPECT_TRUE(std::any_of(rules.begin(), rules.end(), [](const SbplRule& rule) {
    return !rule.allow && rule.operations == all && rule.filters == std::vector{under("/System/Volumes/Data")};
  }));
}

}  // namespace
}  // namespace harn::plan
