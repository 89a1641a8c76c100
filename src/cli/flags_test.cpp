// SPDX-License-Identifier: Apache-2.0
#include "cli/flags.h"

#include <gtest/gtest.h>

#include "cli/canned_hosts.h"
#include "cli/verbs.h"

namespace harn::cli {
namespace {

using Words = std::vector<std::string>;

const PathContext context{.cwd = AbsPath::of("/work/p"), .home = AbsPath::of("/home/me")};

Result<Policy> flags(Words words) {
  words.push_back("true");
  HARN_TRY(arguments, parse_arguments(*find_verb(Words{"plan"}), words));
  return policy_from_flags(arguments, context);
}

TEST(Flags, NothingSaidIsNothingSet) { EXPECT_EQ(flags({}), Policy{}); }

TEST(Flags, EveryFlagReachesItsMember) {
  const auto got = flags({"--profile",
                          "os_hardened",
                          "--write",
                          "a",
                          "--write=/b",
                          "--read",
                          "~/c",
                          "--deny",
                          "../d",
                          "--unprotect",
                          ".envrc",
                          "--preset",
                          "user_temp",
                          "--allow-host",
                          "Example.org:443",
                          "--loopback",
                          "--memory",
                          "1G",
                          "--cpu-seconds",
                          "2",
                          "--procs",
                          "3",
                          "--file-size",
                          "4M",
                          "--timeout",
                          "1.5s",
                          "--output-limit",
                          "6K",
                          "--open-files",
                          "7",
                          "--env",
                          "A=b=c",
                          "--env",
                          "A=d",
                          "--env-pass",
                          "T_TOKEN",
                          "--env-strip",
                          "X*",
                          "--clear-env"});
  ASSERT_TRUE(got) << describe(got.error());
  Policy expected;
  expected.sandbox_profile = Profile::os_hardened;
  expected.side_effect_level = SideEffectLevel::network;
  expected.workspace_roots = {AbsPath::of("/work/p/a"), AbsPath::of("/b")};
  expected.read_only_roots = {AbsPath::of("/home/me/c")};
  expected.process_sandbox.read_deny_roots = {AbsPath::of("/work/d")};
  expected.unprotect = {AbsPath::of("/work/p/.envrc")};
  expected.process_sandbox.presets = {Preset::user_temp};
  expected.network = Network{.allowed_hosts = {{"example.org", std::uint16_t{443}}}, .loopback = true};
  expected.limits = {.max_memory_mb = 1024,
                     .max_cpu_seconds = 2,
                     .max_processes = 3,
                     .max_file_size_mb = 4,
                     .max_output_bytes = 6144,
                     .max_open_files = 7,
                     .wall_time = std::chrono::milliseconds(1500)};
  expected.env = {.mode = EnvMode::replace, .set = {{"A", "d"}}, .passthrough = std::set<std::string>{"T_TOKEN"}, .strip = {"X*"}};
  EXPECT_EQ(*got, expected);
}

TEST(Flags, TheNetworkHasThreeModes) {
  Policy none;
  none.network = Network{};
  EXPECT_EQ(flags({"--net", "none"}), none);
  Policy all;
  all.network = Network{.mode = NetworkMode::unrestricted};
  all.side_effect_level = SideEffectLevel::network;
  EXPECT_EQ(flags({"--net", "allowed"}), all);
  Policy some;
  some.network = Network{.allowed_hosts = {{"a.org", {}}}};
  some.side_effect_level = SideEffectLevel::network;
  EXPECT_EQ(flags({"--net", "restricted", "--allow-host", "a.org"}), some);
  EXPECT_EQ(flags({"--allow-host", "a.org"}), some);
}

TEST(Flags, PathsAreTakenFromTheCallersPlace) {
  struct Case {
    std::string_view text, path;
  };
  for (const auto& c : {Case{".", "/work/p"}, Case{"..", "/work"}, Case{"../../..", "/"}, Case{"~", "/home/me"}, Case{"~/x", "/home/me/x"},
                        Case{"~x", "/work/p/~x"}, Case{"/a//b/", "/a/b"}, Case{"C:\\x", "C:/x"}})
    EXPECT_EQ(path_argument(c.text, context), AbsPath::of(c.path)) << c.text;
  for (const auto text : {std::string_view(""), std::string_view("a\0b", 3)}) EXPECT_FALSE(path_argument(text, context));
}

TEST(Flags, OptionsOfThePlanComeFromFlagsAndEnvironment) {
  const auto options = [](Words words, std::map<std::string, std::string> environment) {
    words.push_back("true");
    return plan_options_from(*parse_arguments(*find_verb(Words{"plan"}), words), {.environment = std::move(environment)});
  };
  EXPECT_EQ(options({}, {})->fallback, Fallback::warn);
  EXPECT_EQ(options({"--backend", "auto"}, {{"HARN_HANDLER_SANDBOX", "enforce"}})->fallback, Fallback::enforce);
  EXPECT_EQ(options({"--backend", "auto"}, {})->backend, std::nullopt);
  EXPECT_EQ(options({"--backend", "podman"}, {})->backend, Backend::podman);
  EXPECT_TRUE(options({"--no-sandbox"}, {})->no_sandbox);
  EXPECT_FALSE(options({}, {{"HARN_HANDLER_SANDBOX", "sometimes"}}));
}

TEST(Flags, TheModesOfHarnessAreBackendsAndLimits) {
  const auto parsed = [](Words words) {
    words.push_back("true");
    return *parse_arguments(*find_verb(Words{"run"}), words);
  };
  const auto options = [&](const Words& words) { return plan_options_from(parsed(words), {}); };
  EXPECT_TRUE(options({"--sandbox", "none"})->no_sandbox);
  EXPECT_EQ(options({"--sandbox", "docker"})->backend, Backend::docker);
  EXPECT_EQ(options({"--sandbox", "docker", "--backend", "podman"})->backend, Backend::podman);
  EXPECT_EQ(options({"--sandbox", "process"})->backend, std::nullopt);
  EXPECT_EQ(options({"--sandbox", "process", "--backend", "bubblewrap"})->backend, Backend::bubblewrap);
  for (const auto& words : {Words{"--sandbox", "none", "--backend", "linux"}, Words{"--sandbox", "docker", "--backend", "linux"},
                            Words{"--sandbox", "process", "--backend", "docker"}, Words{"--sandbox", "process", "--no-sandbox"}})
    EXPECT_FALSE(options(words)) << words[1] << words[2];

  const auto limits = [&](const Words& words, Limits start) {
    add_default_limits(parsed(words), start);
    return start;
  };
  const Limits some{.max_processes = 8, .max_open_files = 100};
  EXPECT_EQ(limits({}, some), some);
  EXPECT_EQ(limits({"--sandbox", "none"}, some), some);
  for (const auto* mode : {"process", "docker"})
    EXPECT_EQ(limits({"--sandbox", mode}, some),
              (Limits{.max_memory_mb = 512, .max_cpu_seconds = 30, .max_processes = 8, .max_file_size_mb = 100, .max_open_files = 100}));
}

TEST(CannedHosts, ExistForEveryPlatformWithAProject) {
  for (const auto platform : {Platform::linux, Platform::macos, Platform::windows, Platform::openbsd}) {
    const auto facts = canned_host(platform);
    EXPECT_EQ(facts.platform, platform);
    EXPECT_TRUE(facts.exists(facts.project_root)) << facts.name;
    EXPECT_TRUE(facts.home.contains(facts.project_root)) << facts.name;
    for (const auto& entry : facts.search_path) EXPECT_TRUE(facts.exists(entry)) << facts.name << " " << entry.text();
  }
}

}  // namespace
}  // namespace harn::cli
