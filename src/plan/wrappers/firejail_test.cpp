// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "plan/lower.h"
#include "plan/wrappers/firejail_paths.h"
#include "support/argv_mounts.h"

namespace harn::plan {
namespace {

using Words = std::vector<std::string>;

HostFacts host() {
  HostFacts facts;
  facts.uid = facts.gid = 1000;
  facts.home = AbsPath::of("/home/me");
  facts.cwd = facts.project_root = AbsPath::of("/srv/w");
  for (const auto* directory : {"/srv/w", "/srv/w/sub", "/srv/w/sub/keep", "/srv/w/secret", "/srv/w/secret/open", "/srv", "/home",
                                "/home/me", "/etc", "/usr/bin", "/run", "/tmp", "/stray", "/home/me/p"})
    facts.paths[directory] = {.kind = PathKind::directory};
  facts.paths["/"] = {.kind = PathKind::directory,
                      .entries = {{"bin", "dev", "etc", "home", "note.txt", "proc", "run", "srv", "stray", "sys", "tmp", "usr"}}};
  facts.paths["/usr"] = {.kind = PathKind::directory, .entries = {{"bin", "lib", "share"}}};
  facts.paths["/bin"] = {.kind = PathKind::directory, .link_target = AbsPath::of("/usr/bin")};
  return facts;
}

// One workspace without protected names, and the system to run in.
Policy bare() {
  Policy policy;
  policy.workspace_roots = {AbsPath::of("/srv/w")};
  policy.unprotect = *policy.workspace_roots;
  policy.process_sandbox.presets = {Preset::system_runtime, Preset::user_temp};
  return policy;
}

Result<FirejailPaths> spelled(const Policy& policy, const HostFacts& facts = host()) {
  const Command command;
  const auto rules = PathRules::for_processes(policy, facts);
  return firejail_paths({.policy = policy, .command = command, .facts = facts, .rules = rules});
}

Words words(const Policy& policy, const HostFacts& facts = host()) {
  const auto paths = spelled(policy, facts);
  EXPECT_TRUE(paths) << (paths ? "" : paths.error().message);
  return paths ? paths->words : Words{};
}

Result<Plan> lowered(const Policy& policy, const HostFacts& facts = host(), const Words& argv = {"make", "test"}) {
  const Command command{.argv = argv};
  const auto rules = PathRules::for_processes(policy, facts);
  Plan plan{.argv = argv, .cwd = facts.cwd};
  HARN_OK(lower_firejail({.policy = policy, .command = command, .facts = facts, .rules = rules}, plan));
  return plan;
}

Words argv(const Result<Plan>& plan) {
  EXPECT_TRUE(plan) << (plan ? "" : plan.error().message);
  return plan ? std::get<Wrapper>(plan->confinement).argv : Words{};
}

bool has(const Words& list, std::string_view word) { return std::find(list.begin(), list.end(), word) != list.end(); }

const Gap* gap(const Plan& plan, std::string_view code) {
  const auto it = std::find_if(plan.coverage.gaps.begin(), plan.coverage.gaps.end(), [&](const Gap& entry) { return entry.code == code; });
  return it == plan.coverage.gaps.end() ? nullptr : &*it;
}

std::vector<AbsPath> paths(std::initializer_list<std::string_view> texts) {
  std::vector<AbsPath> out;
  for (const auto text : texts) out.push_back(AbsPath::of(text));
  return out;
}

TEST(Firejail, EmptiesOrHidesEverythingInTheRoot) {
  EXPECT_EQ(words(bare()),
            (Words{"--whitelist=/home/.harn-nothing", "--whitelist=/home/me/.harn-nothing", "--blacklist=/note.txt",
                   "--whitelist=/run/.harn-nothing", "--whitelist=/run/user/1000/.harn-nothing", "--whitelist=/srv/w", "--blacklist=/stray",
                   "--blacklist=/sys", "--whitelist=/tmp/.harn-nothing", "--read-only=/etc", "--read-only=/usr"}));
}

TEST(Firejail, RootAlsoLosesTheRootDirectoryItself) {
  auto facts = host();
  facts.uid = 0;
  const auto list = words(bare(), facts);
  EXPECT_TRUE(has(list, "--read-only=/"));
  EXPECT_EQ(list.back(), "--read-only=/usr");
  // Undone for what is granted: for root, without asking who owns it.
  EXPECT_TRUE(has(list, "--read-write=/srv/w"));
}

TEST(Firejail, RefinesInsideAGrantAndKeepsDirectoriesAboveInPlace) {
  auto policy = bare();
  policy.read_only_roots = paths({"/srv/w/sub/keep"});
  policy.process_sandbox.read_deny_roots = paths({"/srv/w/secret"});
  policy.process_sandbox.read_roots = paths({"/home/me/p"});
  const auto list = words(policy);
  EXPECT_TRUE(has(list, "--whitelist=/home/me/p"));
  const Words want{"--read-only=/home/me/p",  "--blacklist=/srv/w/secret",   "--read-only=/srv/w/sub",
                   "--read-write=/srv/w/sub", "--read-only=/srv/w/sub/keep", "--read-only=/usr"};
  EXPECT_EQ(Words(list.end() - static_cast<std::ptrdiff_t>(want.size()), list.end()), want);
}

TEST(Firejail, OpensAWritablePathInsideAReadOnlyOne) {
  auto policy = bare();
  policy.workspace_roots = paths({"/srv/w/sub"});
  policy.read_only_roots = paths({"/srv/w"});
  const auto list = words(policy);
  const auto outer = std::find(list.begin(), list.end(), "--read-only=/srv/w");
  const auto inner = std::find(list.begin(), list.end(), "--read-write=/srv/w/sub");
  EXPECT_LT(outer, inner);
  EXPECT_NE(inner, list.end());
}

TEST(Firejail, SplitsUsrOnlyWhereItsNamesAreKnown) {
  auto policy = bare();
  policy.process_sandbox.presets = {Preset::user_temp};
  policy.process_sandbox.read_roots = paths({"/usr/bin"});
  const auto list = words(policy);
  EXPECT_TRUE(has(list, "--blacklist=/usr/lib"));
  EXPECT_TRUE(has(list, "--blacklist=/usr/share"));
  EXPECT_TRUE(has(list, "--read-only=/usr/bin"));
  auto facts = host();
  facts.paths["/usr"].entries.reset();
  EXPECT_EQ(spelled(policy, facts).error().code, ErrorCode::not_supported);
}

TEST(Firejail, AnUnlistedRootIsAHole) {
  auto facts = host();
  facts.paths["/"].entries.reset();
  const auto plan = lowered(bare(), facts);
  EXPECT_TRUE(has(argv(plan), "--blacklist=/opt"));
  ASSERT_NE(gap(*plan, "root_not_listed"), nullptr);
  EXPECT_EQ(plan->coverage[Dimension::reads].status, Enforcement::not_enforced);
  EXPECT_EQ(gap(*lowered(bare()), "root_not_listed"), nullptr);
}

TEST(Firejail, RefusesWhatItCannotSay) {
  const struct {
    const char* why;
    std::function<void(Policy&, HostFacts&)> change;
  } rows[] = {
      {"a comma splits lists",
       [](Policy& p, HostFacts& f) {
         f.paths["/srv/a,b"] = {.kind = PathKind::directory};
         p.read_only_roots = paths({"/srv/a,b"});
       }},
      {"a space",
       [](Policy& p, HostFacts& f) {
         f.paths["/srv/a b"] = {.kind = PathKind::directory};
         p.read_only_roots = paths({"/srv/a b"});
       }},
      {"a pattern",
       [](Policy& p, HostFacts& f) {
         f.paths["/srv/w/*"] = {.kind = PathKind::file};
         p.process_sandbox.read_deny_roots = paths({"/srv/w/*"});
       }},
      {"a macro",
       [](Policy& p, HostFacts& f) {
         f.paths["/srv/${HOME}"] = {.kind = PathKind::directory};
         p.read_only_roots = paths({"/srv/${HOME}"});
       }},
      {"two dots",
       [](Policy& p, HostFacts& f) {
         f.paths["/srv/a..b"] = {.kind = PathKind::directory};
         p.read_only_roots = paths({"/srv/a..b"});
       }},
      {"a working directory with a space", [](Policy&, HostFacts& f) { f.cwd = AbsPath::of("/srv/w/a b"); }},
      {"the root", [](Policy& p, HostFacts&) { p.read_only_roots = {AbsPath()}; }},
      {"a device",
       [](Policy& p, HostFacts& f) {
         f.paths["/dev/kvm"] = {.kind = PathKind::device};
         p.process_sandbox.write_roots = paths({"/dev/kvm"});
       }},
      {"a socket in /dev",
       [](Policy& p, HostFacts& f) {
         f.paths["/dev/x"] = {.kind = PathKind::socket};
         p.process_sandbox.unix_sockets = {{.path = AbsPath::of("/dev/x")}};
       }},
      {"a grant inside a denial",
       [](Policy& p, HostFacts&) {
         p.process_sandbox.read_deny_roots = paths({"/srv/w/secret"});
         p.process_sandbox.write_roots = paths({"/srv/w/secret/open"});
       }},
      {"a socket inside a denial",
       [](Policy& p, HostFacts& f) {
         f.paths["/srv/w/secret/s"] = {.kind = PathKind::socket};
         p.process_sandbox.read_deny_roots = paths({"/srv/w/secret"});
         p.process_sandbox.unix_sockets = {{.path = AbsPath::of("/srv/w/secret/s")}};
       }},
      {"no shell", [](Policy& p, HostFacts&) { p.process_sandbox.presets = {Preset::user_temp}; }},
  };
  for (const auto& row : rows) {
    auto policy = bare();
    auto facts = host();
    row.change(policy, facts);
    const auto plan = lowered(policy, facts);
    ASSERT_FALSE(plan) << row.why;
    EXPECT_EQ(plan.error().code, ErrorCode::not_supported) << row.why;
    EXPECT_FALSE(plan.error().hint.empty()) << row.why;
  }
}

TEST(Firejail, LeavesLinksAloneBecauseItWouldFollowThem) {
  auto facts = host();
  facts.paths["/srv/w/sub"] = {.kind = PathKind::directory, .link_target = AbsPath::of("/stray")};
  auto policy = bare();
  policy.process_sandbox.read_deny_roots = paths({"/srv/w/sub", "/srv/w/sub/keep"});
  const auto plan = lowered(policy, facts);
  for (const auto& word : argv(plan)) EXPECT_EQ(word.find("/srv/w/sub"), std::string::npos) << word;
  EXPECT_EQ(gap(*plan, "protected_link")->paths, paths({"/srv/w/sub"}));
  policy.process_sandbox.read_deny_roots.clear();
  facts.paths["/home/me/p"] = {.kind = PathKind::directory, .link_target = AbsPath::of("/stray")};
  policy.read_only_roots = paths({"/home/me/p"});
  EXPECT_EQ(lowered(policy, facts).error().code, ErrorCode::not_supported);
}

TEST(Firejail, SkipsNamesThatAreNotThereAndSaysSo) {
  auto policy = bare();
  policy.process_sandbox.read_deny_roots = paths({"/srv/w/later"});
  const auto plan = lowered(policy);
  EXPECT_FALSE(has(argv(plan), "--blacklist=/srv/w/later"));
  EXPECT_EQ(gap(*plan, "absent_protected_name")->paths, paths({"/srv/w/later"}));
}

TEST(Firejail, WhitelistsSocketsThePolicyNames) {
  auto facts = host();
  facts.paths["/run/pg/s"] = {.kind = PathKind::socket};
  auto policy = bare();
  policy.process_sandbox.unix_sockets = {{.path = AbsPath::of("/run/pg/s")}};
  EXPECT_TRUE(has(words(policy, facts), "--whitelist=/run/pg/s"));
}

TEST(Firejail, ClosesSocketsAsFarAsThePolicyAsks) {
  auto policy = bare();
  auto list = argv(lowered(policy));
  EXPECT_TRUE(has(list, "--net=none"));
  EXPECT_TRUE(has(list, "--protocol=unix"));
  policy.network = Network{.loopback = true};
  EXPECT_TRUE(has(argv(lowered(policy)), "--protocol=unix,inet,inet6"));
  policy.side_effect_level = SideEffectLevel::network;
  policy.network = Network{.mode = NetworkMode::unrestricted};
  list = argv(lowered(policy));
  EXPECT_FALSE(has(list, "--net=none"));
  // With the host's network would come its abstract sockets.
  EXPECT_TRUE(has(list, "--protocol=inet,inet6,netlink"));
}

TEST(Firejail, WithoutAnySocketTheCallItselfGoes) {
  auto policy = bare();
  policy.workspace_roots = paths({"/home/me"});
  policy.unprotect = *policy.workspace_roots;
  const auto list = argv(lowered(policy));
  const auto filter = std::find_if(list.begin(), list.end(), [](const std::string& word) { return word.starts_with("--seccomp="); });
  ASSERT_NE(filter, list.end());
  EXPECT_TRUE(filter->ends_with(",socket"));
  EXPECT_TRUE(std::none_of(list.begin(), list.end(), [](const std::string& word) { return word.starts_with("--protocol="); }));
}

TEST(Firejail, LimitsFilesButLeavesProcessorTimeToUs) {
  auto policy = bare();
  policy.limits = {.max_cpu_seconds = 30, .max_processes = 64, .max_file_size_mb = 2, .max_open_files = 99};
  const auto plan = lowered(policy);
  EXPECT_TRUE(has(argv(plan), "--rlimit-fsize=2097152"));
  EXPECT_TRUE(has(argv(plan), "--rlimit-nofile=99"));
  for (const auto& word : argv(plan)) EXPECT_FALSE(word.starts_with("--rlimit-cpu") || word.starts_with("--rlimit-nproc")) << word;
  EXPECT_EQ(plan->coverage[Dimension::cpu].status, Enforcement::degraded) << "sampled";
}

TEST(Firejail, TheTerminalIsTheStandingHole) {
  EXPECT_NE(gap(*lowered(bare()), "device_ioctl"), nullptr);
  EXPECT_EQ(lowered(bare())->coverage[Dimension::devices].status, Enforcement::not_enforced);
}

TEST(Firejail, OnlyOrdinaryUsersGetAUserNamespace) {
  EXPECT_TRUE(has(argv(lowered(bare())), "--noroot"));
  auto facts = host();
  facts.uid = 0;
  EXPECT_FALSE(has(argv(lowered(bare(), facts)), "--noroot"));
}

TEST(Firejail, RefusesMoreThanItsProgramTakes) {
  const auto expect_refused = [](const Words& command, std::string_view text) {
    const auto plan = lowered(bare(), host(), command);
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().code, ErrorCode::not_supported);
    EXPECT_NE(plan.error().message.find(text), std::string::npos) << plan.error().message;
  };
  expect_refused(Words(128, "x"), "at most 127 words");
  expect_refused({"sh", "-c", std::string(4128, 'x')}, "at most 4127 bytes");
  EXPECT_TRUE(lowered(bare(), host(), {"sh", "-c", std::string(4127, 'x')}));

  const auto rules = PathRules::for_processes(bare(), host());
  Plan plan{.argv = {"true"}, .cwd = host().cwd};
  for (int i = 0; i < 256; ++i) plan.env.variables["V" + std::to_string(i)] = "";
  EXPECT_EQ(lower_firejail({.policy = bare(), .command = {}, .facts = host(), .rules = rules}, plan).error().code,
            ErrorCode::not_supported);
}

TEST(Firejail, HandsTheCommandOverWordByWord) {
  const Words command{"/bin/echo", "", "--", "--blacklist=/srv", "a b", "it's", "\"", "$HOME", "`id`", "*", "\n", "\xff", "\\"};
  EXPECT_EQ(test::understand_firejail(argv(lowered(bare(), host(), command)), host()).command, command);
}

}  // namespace
}  // namespace harn::plan
