// SPDX-License-Identifier: Apache-2.0
// What good policy texts mean, and that both formats mean the same.
#include <gtest/gtest.h>

#include "base/json.h"
#include "harn/policy_text.h"

namespace harn {
namespace {

using std::chrono::milliseconds;

const TextContext context{.home = AbsPath::of("/home/me"), .file_name = "p"};

AbsPath path(std::string_view text) { return AbsPath::of(text); }

Policy from_toml(std::string_view text) {
  auto policy = parse_policy_toml(text, context);
  EXPECT_TRUE(policy) << text << "\n" << describe(policy.error());
  return policy.value_or(Policy{.recursion_limit = 4242});
}

Policy from_json(std::string_view text) {
  auto policy = parse_policy_json(text, context);
  EXPECT_TRUE(policy) << text << "\n" << describe(policy.error());
  return policy.value_or(Policy{.recursion_limit = 4242});
}

constexpr std::string_view full_toml = R"(
sandbox_profile = "os_hardened"
side_effect_level = "network"
workspace_roots = ["/w", "~/src", "$HOME"]
read_only_roots = ["/opt//data/./x/"]
unprotect = ["/w/.git/config"]
blocked_commands = ["rm -rf /", "nc"]
recursion_limit = 0

[capabilities]
workspace = ["list", "read_text", "exists", "delete", "write_text"]
process = ["exec"]

[process_sandbox]
presets = ["user_temp", "system_runtime"]
package_tokens = false
read_roots = ["/data", "/data"]
write_roots = ["/cache"]
read_deny_roots = ["~"]
unix_sockets = ["/run/a.sock", {path = "/run/docker.sock", allow_dangerous = true}, {path = "/run/b.sock"}]
credentials = ["~/.aws/config"]

[network]
mode = "limited"
allowed_hosts = ["Example.org", "x.org:443"]
loopback = true
blocked_ports = [25, 1, 65535, 25]

[limits]
max_memory_mb = 512
max_cpu_seconds = 30
max_processes = 64
max_file_size_mb = 100
max_output_bytes = "10M"
max_open_files = 1024
cpu_count = 1.5
wall_time = "2m"
idle_timeout = 0.25

[env]
mode = "replace"
remove = ["EDITOR"]
passthrough = ["NPM_TOKEN"]
strip = ["MY_*"]
[env.set]
LANG = "C.UTF-8"
EMPTY = ""
)";

constexpr std::string_view full_json = R"({
  "sandbox_profile": "os_hardened", "side_effect_level": "network",
  "capabilities": {"workspace": ["read_text", "list", "exists", "write_text", "delete"], "process": ["exec"]},
  "workspace_roots": ["/w", "/home/me/src", "/home/me"], "read_only_roots": ["/opt/data/x"], "unprotect": ["/w/.git/config"],
  "process_sandbox": {"presets": ["system_runtime", "user_temp"], "package_tokens": false,
    "read_roots": ["/data", "/data"], "write_roots": ["/cache"], "read_deny_roots": ["/home/me"],
    "unix_sockets": ["/run/a.sock", {"allow_dangerous": true, "path": "/run/docker.sock"}, {"path": "/run/b.sock", "allow_dangerous": false}],
    "credentials": ["/home/me/.aws/config"]},
  "network": {"allowed_hosts": ["example.org", "x.org:443"], "loopback": true, "blocked_ports": [1, 25, 65535]},
  "limits": {"max_memory_mb": 512, "max_cpu_seconds": 30, "max_processes": 64, "max_file_size_mb": 100, "max_output_bytes": 10485760,
    "max_open_files": 1024, "cpu_count": 1.5, "wall_time": 120, "idle_timeout": "250ms"},
  "env": {"mode": "replace", "set": {"EMPTY": "", "LANG": "C.UTF-8"}, "remove": ["EDITOR"], "passthrough": ["NPM_TOKEN"], "strip": ["MY_*"]},
  "blocked_commands": ["nc", "rm -rf /"], "recursion_limit": 0
})";

Policy full_policy() {
  return Policy{.sandbox_profile = Profile::os_hardened,
                .side_effect_level = SideEffectLevel::network,
                .capabilities = Capabilities::all(),
                .workspace_roots = {{path("/w"), path("/home/me/src"), path("/home/me")}},
                .read_only_roots = std::vector{path("/opt/data/x")},
                .unprotect = std::vector{path("/w/.git/config")},
                .process_sandbox = {.presets = {{Preset::user_temp, Preset::system_runtime}},
                                    .package_tokens = false,
                                    .read_roots = std::vector{path("/data"), path("/data")},
                                    .write_roots = std::vector{path("/cache")},
                                    .read_deny_roots = {path("/home/me")},
                                    .unix_sockets =
                                        std::vector<UnixSocket>{
                                            {path("/run/a.sock"), false}, {path("/run/docker.sock"), true}, {path("/run/b.sock"), false}},
                                    .credentials = std::vector{path("/home/me/.aws/config")}},
                .network = Network{.mode = NetworkMode::limited,
                                   .allowed_hosts = {{.host = "example.org", .port = {}}, {.host = "x.org", .port = 443}},
                                   .loopback = true,
                                   .blocked_ports = {1, 25, 65535}},
                .limits = {.max_memory_mb = 512,
                           .max_cpu_seconds = 30,
                           .max_processes = 64,
                           .max_file_size_mb = 100,
                           .max_output_bytes = 10485760,
                           .max_open_files = 1024,
                           .cpu_milli = 1500,
                           .wall_time = milliseconds(120'000),
                           .idle_timeout = milliseconds(250)},
                .env = {.mode = EnvMode::replace,
                        .set = {{"EMPTY", ""}, {"LANG", "C.UTF-8"}},
                        .remove = {"EDITOR"},
                        .passthrough = std::set<std::string>{"NPM_TOKEN"},
                        .strip = {"MY_*"}},
                .blocked_commands = {"nc", "rm -rf /"},
                .recursion_limit = 0};
}

TEST(Parse, ReadsEveryMemberFromBothFormats) {
  EXPECT_EQ(from_toml(full_toml), full_policy());
  EXPECT_EQ(from_json(full_json), full_policy());
}

TEST(Parse, KeepsUnsetEmptyAndEverythingApart) {
  Policy none;
  none.capabilities = Capabilities{};
  Policy reading;
  reading.capabilities = Capabilities{.workspace = {WorkspaceOp::read_text}, .process = {}};
  Policy rootless;
  rootless.workspace_roots = std::vector<AbsPath>{};
  Policy bare;
  bare.process_sandbox.presets = std::set<Preset>{};
  Policy networked;
  networked.network = Network{};
  struct Case {
    std::string_view toml = {};
    std::string_view json = {};
    Policy policy = {};
  };
  const Case cases[] = {
      {"", "{}", Policy{}},
      {"# nothing\n", " {} ", Policy{}},
      {"capabilities = {}", R"({"capabilities": {}})", none},
      {"[capabilities]", R"({"capabilities": {"workspace": []}})", none},
      {"capabilities.workspace = ['read_text']", R"({"capabilities": {"workspace": ["read_text"]}})", reading},
      {"workspace_roots = []", R"({"workspace_roots": []})", rootless},
      {"process_sandbox.presets = []", R"({"process_sandbox": {"presets": []}})", bare},
      {"[process_sandbox]", R"({"process_sandbox": {"presets": null}})", Policy{}},
      {"[network]", R"({"network": {}})", networked},
      {"[limits]\n[env]\n", R"({"limits": {}, "env": {"set": {}, "strip": []}})", Policy{}},
  };
  for (const auto& [toml, json, policy] : cases) {
    EXPECT_EQ(from_toml(toml), policy) << toml;
    EXPECT_EQ(from_json(json), policy) << json;
    EXPECT_EQ(from_toml(policy_to_toml(policy)), policy) << policy_to_toml(policy);
    EXPECT_EQ(from_json(policy_to_json(policy)), policy) << policy_to_json(policy);
  }
}

TEST(Parse, NamesEveryIndependentMistakeOnce) {
  const TextContext places{.home = path("/home/me"), .file_name = "p.toml"};
  std::vector<std::string> found;
  for (const auto& error : policy_toml_mistakes(R"(sandbox_profil = "worktree"
side_effect_level = "all"
[limits]
max_memory_mb = -1
max_cpus = 2
[network]
allowed_hosts = ["x.org"]
)",
                                                places))
    found.push_back(error.where);
  EXPECT_EQ(found, (std::vector<std::string>{"p.toml:1:1", "p.toml:2:21", "p.toml:4:17", "p.toml:5:1"}));
  EXPECT_EQ(policy_toml_mistakes("[network]\nallowed_hosts = ['x.org']", places).size(), 1u);
  EXPECT_EQ(policy_toml_mistakes("x = ", places).size(), 1u);
  EXPECT_EQ(policy_json_mistakes(R"({"a": 1, "b": 2})", places).size(), 2u);
  EXPECT_EQ(policy_json_mistakes("{", places).size(), 1u);
  EXPECT_TRUE(policy_toml_mistakes("", places).empty() && policy_json_mistakes("{}", places).empty());
}

TEST(Parse, TellsAnEmptyListFromNone) {
  Policy empty;
  empty.read_only_roots.emplace();
  empty.process_sandbox.credentials.emplace();
  empty.env.passthrough.emplace();
  EXPECT_EQ(from_toml("read_only_roots = []\nprocess_sandbox.credentials = []\nenv.passthrough = []"), empty);
  EXPECT_EQ(from_json(R"({"read_only_roots": [], "process_sandbox": {"credentials": []}, "env": {"passthrough": []}})"), empty);
  EXPECT_EQ(policy_to_json(empty, -1), R"({"read_only_roots": [], "process_sandbox": {"credentials": []}, "env": {"passthrough": []}})");
  EXPECT_EQ(from_toml(""), Policy{});
}

TEST(Parse, ReadsPathsFromHomeRootAndDrives) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"~", "/home/me"}, {"~/", "/home/me"},   {"~/a b", "/home/me/a b"}, {"$HOME", "/home/me"}, {"$HOME/x/./y", "/home/me/x/y"},
      {"/", "/"},        {"//a///b/", "/a/b"}, {"/~/x", "/~/x"},          {"/a/..b", "/a/..b"},  {"C:/Users", "C:/Users"},
      {"/é", "/é"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_EQ(from_json("{\"read_only_roots\": [" + base::print_json(base::Value(text)) + "]}").read_only_roots,
              std::vector{path(expected)})
        << text;
}

TEST(Parse, ReadsEveryKindOfTomlString) {
  EXPECT_EQ(
      from_toml("blocked_commands = [\"a\\u00e9\", 'b\\', \"\"\"\\\n  é c\"\"\", \'\'\'\nd\'\'\', \"\xEF\xBB\x9F\"]").blocked_commands,
      (std::set<std::string>{"aé", "b\\", "é c", "d", "\xEF\xBB\x9F"}));
}

TEST(Parse, ReadsLimitsAtTheirBounds) {
  const std::pair<std::string_view, Limits> cases[] = {
      {"max_memory_mb = 1", {.max_memory_mb = 1}},
      {"max_memory_mb = 1073741824", {.max_memory_mb = 1073741824}},
      {"max_output_bytes = 1", {.max_output_bytes = 1}},
      {"max_output_bytes = '1024T'", {.max_output_bytes = 1ULL << 50}},
      {"cpu_count = 2", {.cpu_milli = 2000}},
      {"cpu_count = 0.001", {.cpu_milli = 1}},
      {"cpu_count = 4096", {.cpu_milli = 4'096'000}},
      {"cpu_count = 2.675", {.cpu_milli = 2675}},
      {"wall_time = 30", {.wall_time = milliseconds(30'000)}},
      {"wall_time = 0.001", {.wall_time = milliseconds(1)}},
      {"wall_time = '1ms'", {.wall_time = milliseconds(1)}},
      {"wall_time = '1.5'", {.wall_time = milliseconds(1500)}},
      {"wall_time = '8760h'", {.wall_time = milliseconds(31'536'000'000)}},
      {"wall_time = 31536000", {.wall_time = milliseconds(31'536'000'000)}},
  };
  for (const auto& [text, limits] : cases) EXPECT_EQ(from_toml("[limits]\n" + std::string(text)).limits, limits) << text;
  EXPECT_EQ(from_toml("recursion_limit = 4294967295").recursion_limit, 4294967295U);
}

}  // namespace
}  // namespace harn
