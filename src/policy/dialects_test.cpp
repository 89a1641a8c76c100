// SPDX-License-Identifier: Apache-2.0
#include "policy/dialects.h"

#include <gtest/gtest.h>

namespace harn {
namespace {

const DialectContext context{.home = AbsPath::of("/home/me"), .project_root = AbsPath::of("/w/project"), .file_name = "c.toml"};
using Lines = std::vector<std::string>;

Imported imported(Dialect dialect, std::string_view toml) {
  const auto result = import_dialect(dialect, toml, context);
  EXPECT_TRUE(result) << (result ? "" : describe(result.error()));
  return result.value_or(Imported{});
}

struct Refused {
  std::string_view toml = {};
  std::string error = {};
};

void expect_refused(Dialect dialect, const std::vector<Refused>& cases) {
  for (const auto& [toml, error] : cases) {
    const auto result = import_dialect(dialect, toml, context);
    ASSERT_FALSE(result) << toml;
    EXPECT_EQ(describe(result.error()), error);
    EXPECT_EQ(result.error().code, ErrorCode::invalid_policy);
  }
}

TEST(Dialects, HaveNames) {
  EXPECT_EQ(dialect_named("harness"), Dialect::harness);
  EXPECT_EQ(dialect_named("openhuman"), Dialect::openhuman);
  EXPECT_EQ(dialect_named("codex"), std::nullopt);
}

TEST(Harness, TheTutorialFileBecomesAPolicy) {
  Imported expected;
  expected.policy.sandbox_profile = Profile::worktree;
  expected.policy.side_effect_level = SideEffectLevel::process_exec;
  expected.policy.network = Network{};
  expected.policy.workspace_roots = {AbsPath::of("/home/user/project"), AbsPath::of("/tmp")};
  expected.policy.limits = {.max_memory_mb = 512, .max_cpu_seconds = 30, .max_processes = 64, .max_file_size_mb = 100};
  expected.policy.blocked_commands = {"rm -rf /", "curl", "wget", "nc"};
  expected.docker_image = "python:3.12-slim";
  expected.notes = {"max_processes is not written: the Harness default 64 applies",
                    "max_file_size_mb is not written: the Harness default 100 applies"};
  expected.not_expressed = {"docker_image 'python:3.12-slim' has no effect in mode 'process'", "'audit' is not about the sandbox"};
  EXPECT_EQ(imported(Dialect::harness, R"(
[sandbox]
enabled = true
mode = "process"
max_memory_mb = 512
max_cpu_seconds = 30
network_access = false
docker_image = "python:3.12-slim"
allowed_paths = ["/home/user/project", "/tmp"]
blocked_commands = ["rm -rf /", "curl", "wget", "nc"]
[audit]
enabled = true
)"),
            expected);
}

TEST(Harness, DockerModeWithEveryFurtherKey) {
  Imported expected;
  expected.policy.sandbox_profile = Profile::worktree;
  expected.policy.side_effect_level = SideEffectLevel::network;
  expected.policy.network = Network{.allowed_hosts = {{"pypi.org", {}}, {"*.example.org", 443}}, .blocked_ports = {25}};
  expected.policy.workspace_roots = {AbsPath::of("/w/project/src"), AbsPath::of("/home/me/cache"), AbsPath::of("/home/me")};
  expected.policy.limits = {.max_memory_mb = 1, .max_cpu_seconds = 2, .max_processes = 3, .max_file_size_mb = 4};
  expected.policy.env = {
      .mode = EnvMode::replace, .set = {}, .remove = {}, .passthrough = std::set<std::string>{"HOME"}, .strip = {"MY_*"}};
  expected.backend = "docker";
  expected.docker_image = "me/env:1";
  expected.notes = {"mode 'docker' starts from an empty environment: only env_passthrough is carried into the container"};
  expected.not_expressed = {"env_passthrough names 'GITHUB_TOKEN', which nothing can pass"};
  EXPECT_EQ(imported(Dialect::harness, R"(
[sandbox]
enabled = true
mode = "docker"
max_memory_mb = 1
max_cpu_seconds = 2
max_processes = 3
max_file_size_mb = 4
network_access = true
allowed_hosts = ["pypi.org", "https://*.example.org"]
blocked_ports = [25]
docker_image = "me/env:1"
allowed_paths = ["src/", "~/cache", "~"]
env_passthrough = ["HOME", "GITHUB_TOKEN"]
strip_env = ["MY_*"]
)"),
            expected);
}

TEST(Harness, AnEmptyTableTakesTheDefaultsAndSaysSo) {
  Imported expected;
  expected.policy.sandbox_profile = Profile::worktree;
  expected.policy.side_effect_level = SideEffectLevel::process_exec;
  expected.policy.network = Network{};
  expected.policy.limits = {.max_memory_mb = 512, .max_cpu_seconds = 30, .max_processes = 64, .max_file_size_mb = 100};
  expected.enabled = false;
  expected.notes = {"enabled is not written: Harness would run without a sandbox; the policy is what the table says",
                    "max_memory_mb is not written: the Harness default 512 applies",
                    "max_cpu_seconds is not written: the Harness default 30 applies",
                    "max_processes is not written: the Harness default 64 applies",
                    "max_file_size_mb is not written: the Harness default 100 applies",
                    "allowed_paths is not written: the project root is the workspace"};
  EXPECT_EQ(imported(Dialect::harness, "[sandbox]\n"), expected);
}

TEST(Harness, ModeNoneIsUnrestrictedAndSaysWhatIsNotEnforced) {
  Imported expected;
  expected.policy.sandbox_profile = Profile::unrestricted;
  expected.policy.side_effect_level = SideEffectLevel::process_exec;
  expected.policy.network = Network{};
  expected.policy.workspace_roots = std::vector<AbsPath>{};
  expected.policy.limits.max_memory_mb = 64;
  expected.enabled = false;
  expected.backend = "none";
  expected.notes = {"enabled is false: Harness would run without a sandbox; the policy is what the table says"};
  expected.not_expressed = {"mode 'none' means no boundary: paths, hosts and network_access are carried but not enforced"};
  EXPECT_EQ(imported(Dialect::harness, "[sandbox]\nenabled = false\nmode = 'none'\nmax_memory_mb = 64\nallowed_paths = []\n"), expected);
}

TEST(Harness, NetworkAccessAndHostsTogetherDecideWhatIsReachable) {
  struct Case {
    std::string_view keys = {};
    SideEffectLevel level = SideEffectLevel::process_exec;
    Network network = {};
    Lines remarks = {};
  };
  const std::vector<Case> cases = {
      {"network_access = true", SideEffectLevel::network, {.mode = NetworkMode::unrestricted}, {}},
      {"network_access = true\nallowed_hosts = []",
       SideEffectLevel::process_exec,
       {},
       {"allowed_hosts is an empty list: no host can be reached although network_access is true"}},
      {"network_access = false\nallowed_hosts = ['a.org']",
       SideEffectLevel::process_exec,
       {},
       {"allowed_hosts has no effect while network_access is false"}},
      {"allowed_hosts = []", SideEffectLevel::process_exec, {}, {}},
  };
  for (const auto& [keys, level, network, remarks] : cases) {
    const Imported result = imported(Dialect::harness, "[sandbox]\n" + std::string(keys));
    EXPECT_EQ(result.policy.level(), level) << keys;
    EXPECT_EQ(result.policy.network, network) << keys;
    Lines all = result.notes;
    all.insert(all.end(), result.not_expressed.begin(), result.not_expressed.end());
    std::erase_if(all, [](const std::string& line) { return line.find("allowed_hosts") == std::string::npos; });
    EXPECT_EQ(all, remarks) << keys;
  }
}

TEST(Harness, RefusesWhatItDoesNotKnow) {
  const std::string in = "c.toml:2:";
  expect_refused(
      Dialect::harness,
      {
          {"x = 1\n", "c.toml:1:1: the file has no [sandbox] table (import .harness/config.toml of a project that configures one)"},
          {"sandbox = 1\n", "c.toml:1:11: 'sandbox' must be a table, found 1"},
          {"[sandbox]\nmax_memory = 1\n", in + "1: unknown member 'max_memory' in 'sandbox' (did you mean 'max_memory_mb'?)"},
          {"[sandbox]\nmode = 'doker'\n", in + "8: 'sandbox.mode' has the unknown value 'doker' (did you mean 'docker'?)"},
          {"[sandbox]\nenabled = 'yes'\n", in + "11: 'sandbox.enabled' must be true or false, found the string 'yes'"},
          {"[sandbox]\ndocker_image = '-v/:/x'\n",
           in + "16: 'sandbox.docker_image' must be the name of an image, found the string '-v/:/x' (for example \"python:3.12-slim\")"},
          {"[sandbox]\ndocker_image = 'a b'\n",
           in + "16: 'sandbox.docker_image' must be the name of an image, found the string 'a b' (for example \"python:3.12-slim\")"},
          {"[sandbox]\nallowed_paths = ['../x']\n",
           in + "18: 'sandbox.allowed_paths[0]' must be a path without '..', found the string '../x' (write the path it leads to)"},
          {"[sandbox]\nallowed_paths = ['']\n", in + "18: 'sandbox.allowed_paths[0]' must be a path, found the string ''"},
          {"[sandbox]\nallowed_hosts = ['*']\n", in + "18: 'sandbox.allowed_hosts[0]': the host '*' would admit every host (set network "
                                                      "mode = \"unrestricted\" if that is what you mean)"},
      });
  EXPECT_FALSE(import_dialect(Dialect::harness, "[sandbox", context));
}

TEST(Harness, RefusesAnUnknownHome) {
  const auto result = import_dialect(Dialect::harness, "[sandbox]\nallowed_paths = ['~/x']\n", {.file_name = "c.toml"});
  ASSERT_FALSE(result);
  EXPECT_EQ(describe(result.error()),
            "c.toml:2:18: 'sandbox.allowed_paths[0]' names the home directory, but none is known (write the absolute path)");
}

TEST(Dialects, RefuseATreeThatIsNoTable) {
  EXPECT_EQ(policy::import_harness(base::Value(1), context).error().message, "the policy must be a table, found 1");
  EXPECT_EQ(policy::import_openhuman(base::Value(1), context).error().message, "the policy must be a table, found 1");
}

TEST(OpenHuman, SandboxedIsHardenedWithAWritableWorkspace) {
  Imported expected;
  expected.policy.sandbox_profile = Profile::os_hardened;
  expected.policy.side_effect_level = SideEffectLevel::process_exec;
  expected.policy.network = Network{};
  expected.notes = {"sandbox_mode 'sandboxed': os_hardened with the project root as writable workspace",
                    "network is not written: nothing can be reached"};
  expected.not_expressed = {"'name' is not about the sandbox", "'model' is not about the sandbox"};
  EXPECT_EQ(imported(Dialect::openhuman, "name = 'coder'\nmodel = 'm'\nsandbox_mode = 'sandboxed'\n"), expected);
}

TEST(OpenHuman, ReadOnlyRunsCommandsThatCannotWrite) {
  Imported expected;
  expected.policy.sandbox_profile = Profile::worktree;
  expected.policy.side_effect_level = SideEffectLevel::network;
  expected.policy.capabilities =
      Capabilities{.workspace = {WorkspaceOp::read_text, WorkspaceOp::list, WorkspaceOp::exists}, .process = {ProcessOp::exec}};
  expected.policy.workspace_roots = std::vector<AbsPath>{};
  expected.policy.read_only_roots = {AbsPath::of("/w/project")};
  expected.policy.network = Network{.allowed_hosts = {{"a.org", 443}}};
  expected.backend = "linux";
  expected.notes = {"sandbox_mode 'read_only': commands run, and nothing they do can write",
                    "backend 'landlock' is the 'linux' backend, which uses Landlock and more"};
  expected.not_expressed = {"sandbox.firejail_args are not passed on: the plan decides the arguments"};
  const Imported result = imported(Dialect::openhuman, R"(
sandbox_mode = "read_only"
network = "restricted"
[sandbox]
backend = "landlock"
allowed_hosts = ["a.org:443"]
firejail_args = ["--x"]
)");
  EXPECT_EQ(result, expected);
  EXPECT_FALSE(result.policy.may_write());
  EXPECT_TRUE(result.policy.may_exec());
}

TEST(OpenHuman, NoneIsUnrestrictedAndSaysWhatIsNotEnforced) {
  Imported expected;
  expected.policy.sandbox_profile = Profile::unrestricted;
  expected.policy.side_effect_level = SideEffectLevel::network;
  expected.policy.network = Network{.mode = NetworkMode::unrestricted};
  expected.enabled = false;
  expected.backend = "none";
  expected.notes = {"network is not written: without a sandbox everything can be reached"};
  EXPECT_EQ(imported(Dialect::openhuman, "sandbox_mode = 'none'\nsandbox.enabled = false\n"), expected);
  EXPECT_EQ(imported(Dialect::openhuman, "sandbox_mode = 'none'\nnetwork = 'none'\n").not_expressed,
            (Lines{"network 'none' is not enforced: sandbox_mode is 'none'"}));
}

TEST(OpenHuman, NetworkModesAndBackends) {
  const auto allowed = imported(Dialect::openhuman, "sandbox_mode = 'sandboxed'\nnetwork = 'allowed'\nbackend = 'bubblewrap'\n");
  EXPECT_EQ(allowed.policy.level(), SideEffectLevel::network);
  EXPECT_EQ(allowed.policy.network, (Network{.mode = NetworkMode::unrestricted}));
  EXPECT_EQ(allowed.backend, "bubblewrap");
  const auto restricted = imported(Dialect::openhuman, "sandbox_mode = 'sandboxed'\nnetwork = 'restricted'\nbackend = 'auto'\n");
  EXPECT_EQ(restricted.policy.level(), SideEffectLevel::process_exec);
  EXPECT_EQ(restricted.policy.network, Network{});
  EXPECT_EQ(restricted.backend, "auto");
  EXPECT_EQ(restricted.notes.back(), "network 'restricted' names no allowed_hosts: nothing can be reached");
}

TEST(OpenHuman, RefusesContradictionsAndTypos) {
  expect_refused(
      Dialect::openhuman,
      {
          {"name = 'x'\n", "c.toml:1:1: the file has no sandbox_mode (write sandbox_mode = \"none\", \"read_only\" or \"sandboxed\")"},
          {"sandbox_mod = 'none'\n", "c.toml:1:1: unknown member 'sandbox_mod' (did you mean 'sandbox_mode'?)"},
          {"sandbox_mode = 'sandbox'\n", "c.toml:1:16: 'sandbox_mode' has the unknown value 'sandbox' (did you mean 'sandboxed'?)"},
          {"sandbox_mode = 'sandboxed'\nbackend = 'none'\n",
           "c.toml:1:1: sandbox_mode is 'sandboxed' but backend is 'none' (choose a backend, or write sandbox_mode = \"none\")"},
          {"sandbox_mode = 'read_only'\nsandbox.enabled = false\n",
           "c.toml:1:1: sandbox_mode is 'read_only' but sandbox.enabled is false (choose a backend, or write sandbox_mode = \"none\")"},
          {"sandbox_mode = 'sandboxed'\nnetwork = 'allowed'\nallowed_hosts = ['a.org']\n",
           "c.toml:1:1: allowed_hosts has no effect unless network is 'restricted' (write network = \"restricted\", or remove the list)"},
          {"sandbox_mode = 'sandboxed'\nbackend = 'auto'\nsandbox.backend = 'docker'\n",
           "c.toml:3:19: 'sandbox.backend' is written twice, at the top and in [sandbox] (keep one of them)"},
          {"sandbox_mode = 'sandboxed'\nsandbox.image = 'x'\n",
           "c.toml:2:9: unknown member 'image' in 'sandbox' (valid members are: enabled, backend, network, allowed_hosts, firejail_args)"},
          {"sandbox = 1\n", "c.toml:1:11: 'sandbox' must be a table, found 1"},
      });
}

}  // namespace
}  // namespace harn
