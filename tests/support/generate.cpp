// SPDX-License-Identifier: Apache-2.0
#include "support/generate.h"

#include <algorithm>

#include "policy/hosts.h"
#include "policy/path_model.h"
#include "policy/presets.h"

namespace harn::test {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view tops[] = {"/w", "/home/u", "/home", "/usr", "/opt", "/srv", "/w/a", "/home/u/p", "/etc", "/tmp", "/var/tmp/q"};
constexpr std::string_view parts[] = {"a",    "b",   "c",   "a-b",        ".git",   ".git/hooks", ".vscode", ".cargo", ".cargo/registry",
                                      ".ssh", "lib", "src", ".config/gh", ".npmrc", "harn.toml",  ".bashrc", "local"};

AbsPath on(Platform platform, std::string_view path) {
  if (platform != Platform::windows) return AbsPath::of(path);
  return AbsPath::of("C:" + std::string(path));
}

// Empty lists come both unset and written.
template <class List>
std::optional<List> perhaps_unset(Random& random, List list) {
  if (list.empty() && random.chance(50)) return std::nullopt;
  return list;
}

std::vector<AbsPath> some_paths(Random& random, Platform platform, std::size_t most) {
  std::vector<AbsPath> paths(random.below(most + 1));
  for (auto& path : paths) path = random_path(random, platform);
  return paths;
}

template <class E, std::size_t N>
std::set<E> some_of(Random& random, const E (&values)[N]) {
  std::set<E> out;
  for (const auto value : values)
    if (random.chance(60)) out.insert(value);
  return out;
}

std::optional<std::uint64_t> some_limit(Random& random) {
  if (random.chance(60)) return std::nullopt;
  return 1 + random.below(4);
}

Limits random_limits(Random& random) {
  Limits limits{.max_memory_mb = some_limit(random),
                .max_cpu_seconds = some_limit(random),
                .max_processes = some_limit(random),
                .max_file_size_mb = some_limit(random),
                .max_output_bytes = some_limit(random),
                .max_open_files = some_limit(random),
                .cpu_milli = some_limit(random)};
  if (random.chance(30)) limits.wall_time = std::chrono::milliseconds(1 + random.below(5) * 500);
  if (random.chance(20)) limits.idle_timeout = std::chrono::seconds(1 + random.below(3));
  return limits;
}

Network random_network(Random& random, SideEffectLevel level) {
  constexpr std::string_view hosts[] = {"example.org",         "*.example.org",    "a.example.org", "a.b.example.org",
                                        "*.b.example.org:443", "example.org:443",  "10.0.0.0/8",    "10.1.2.3",
                                        "10.1.0.0/16",         "[2001:db8::1]:80", "*.org.test"};
  Network network;
  network.loopback = random.chance(40);
  for (const std::uint16_t port : {std::uint16_t{22}, std::uint16_t{25}, std::uint16_t{443}})
    if (random.chance(20)) network.blocked_ports.insert(port);
  if (level < SideEffectLevel::network) return network;
  if (random.chance(35)) {
    network.mode = NetworkMode::unrestricted;
    return network;
  }
  for (const auto host : hosts)
    if (random.chance(35)) network.allowed_hosts.push_back(*policy::parse_host_rule(host));
  return network;
}

std::set<std::string> some_names(Random& random) {
  std::set<std::string> out;
  for (const auto* name : {"FOO", "BAR", "GH_TOKEN", "PATH", "X_*"})
    if (random.chance(25)) out.insert(name);
  return out;
}

EnvRules random_env(Random& random) {
  constexpr EnvMode modes[] = {EnvMode::inherit, EnvMode::patch, EnvMode::replace};
  EnvRules env{.mode = random.chance(20) ? std::nullopt : std::optional(modes[random.below(3)]),
               .set = {},
               .remove = some_names(random),
               .passthrough = perhaps_unset(random, some_names(random)),
               .strip = some_names(random)};
  for (const auto* name : {"FOO", "LANG"})
    if (random.chance(30)) env.set[name] = random.chance(50) ? "1" : "2";
  return env;
}

ProcessSandbox random_sandbox(Random& random, Platform platform) {
  constexpr Preset presets[] = {Preset::system_runtime, Preset::developer_toolchains, Preset::package_manager_config, Preset::user_temp};
  ProcessSandbox sandbox;
  if (random.chance(50)) sandbox.presets = some_of(random, presets);
  if (random.chance(20)) sandbox.package_tokens = random.chance(50);
  sandbox.read_roots = perhaps_unset(random, some_paths(random, platform, 3));
  sandbox.write_roots = perhaps_unset(random, some_paths(random, platform, 2));
  sandbox.read_deny_roots = some_paths(random, platform, 3);
  std::vector<UnixSocket> sockets;
  for (const auto socket : {"/run/a.sock"sv, "/run/b.sock"sv})
    if (random.chance(25)) sockets.push_back({on(platform, socket), random.chance(30)});
  sandbox.unix_sockets = perhaps_unset(random, std::move(sockets));
  std::vector<AbsPath> credentials;
  for (const auto path : {"/home/u/.ssh"sv, "/home/u/.aws"sv, "/home/u/.config/gh"sv})
    if (random.chance(15)) credentials.push_back(on(platform, path));
  sandbox.credentials = perhaps_unset(random, std::move(credentials));
  return sandbox;
}

void add_around(const AbsPath& path, std::vector<AbsPath>& out) {
  out.push_back(path);
  out.push_back(path.parent());
  out.push_back(path.join("x"));
  out.push_back(path.join("x/y"));
  if (!path.is_root()) out.push_back(path.parent().join(std::string(path.name()) + "-sibling"));
}

}  // namespace

AbsPath random_path(Random& random, Platform platform) {
  auto path = on(platform, random.pick(std::span<const std::string_view>(tops)));
  while (random.chance(55) && path.depth() < 6) path = path.join(random.pick(std::span<const std::string_view>(parts)));
  return path;
}

Policy random_policy(Random& random, Platform platform) {
  constexpr Profile profiles[] = {Profile::unrestricted, Profile::worktree, Profile::wasi, Profile::os_hardened};
  constexpr SideEffectLevel levels[] = {SideEffectLevel::none, SideEffectLevel::read_only, SideEffectLevel::workspace_write,
                                        SideEffectLevel::process_exec, SideEffectLevel::network};
  constexpr WorkspaceOp ops[] = {WorkspaceOp::read_text, WorkspaceOp::list, WorkspaceOp::exists, WorkspaceOp::write_text,
                                 WorkspaceOp::delete_};
  constexpr ProcessOp execs[] = {ProcessOp::exec};
  Policy policy;
  if (random.chance(50)) policy.sandbox_profile = profiles[random.below(4)];
  if (random.chance(60)) policy.side_effect_level = levels[random.below(5)];
  if (random.chance(30)) policy.capabilities = Capabilities{.workspace = some_of(random, ops), .process = some_of(random, execs)};
  policy.workspace_roots = some_paths(random, platform, 3);
  policy.read_only_roots = perhaps_unset(random, some_paths(random, platform, 3));
  if (random.chance(20)) policy.unprotect = some_paths(random, platform, 2);
  policy.process_sandbox = random_sandbox(random, platform);
  if (random.chance(60)) policy.network = random_network(random, policy.level());
  policy.limits = random_limits(random);
  policy.env = random_env(random);
  for (const auto* word : {"curl", "rm -rf", "nc"})
    if (random.chance(20)) policy.blocked_commands.insert(word);
  if (random.chance(20)) policy.recursion_limit = static_cast<std::uint32_t>(random.below(4));
  return policy;
}

Policy plannable_policy(Random& random, const HostFacts& facts) {
  auto policy = random_policy(random, facts.platform);
  policy.sandbox_profile = Profile::worktree;
  if (policy.level() < SideEffectLevel::process_exec) policy.side_effect_level = SideEffectLevel::process_exec;
  if (policy.capabilities) {
    policy.capabilities->process.insert(ProcessOp::exec);
    policy.capabilities->workspace.insert(WorkspaceOp::read_text);
  }
  policy.workspace_roots->push_back(facts.cwd);
  const auto gone = [&](const AbsPath& path) { return !facts.exists(path); };
  for (auto* list :
       {&policy.workspace_roots, &policy.read_only_roots, &policy.process_sandbox.read_roots, &policy.process_sandbox.write_roots})
    if (*list) std::erase_if(**list, gone);
  auto& sandbox = policy.process_sandbox;
  if (!sandbox.unix_sockets) return policy;
  for (auto& socket : *sandbox.unix_sockets) socket.allow_dangerous = true;
  std::erase_if(*sandbox.unix_sockets, [&](const UnixSocket& socket) {
    return std::any_of(sandbox.read_deny_roots.begin(), sandbox.read_deny_roots.end(),
                       [&](const AbsPath& path) { return path.contains(socket.path); });
  });
  return policy;
}

HostFacts random_facts(Random& random, Platform platform) {
  HostFacts facts;
  facts.name = "generated";
  facts.platform = platform;
  facts.uid = random.chance(30) ? 0 : 1000;
  facts.gid = facts.uid;
  facts.home = on(platform, "/home/u");
  facts.temp = on(platform, "/tmp");
  facts.cwd = on(platform, "/w");
  facts.project_root = facts.cwd;
  facts.search_path = {on(platform, "/usr/bin"), on(platform, "/home/u/bin"), on(platform, "/srv/tools")};
  facts.unlisted = PathKind::directory;
  for (const auto path : {"/home/u/.npmrc"sv, "/home/u/.bashrc"sv, "/w/harn.toml"sv, "/w/.bashrc"sv, "/etc/shadow"sv})
    facts.paths[on(platform, path).text()] = {.kind = PathKind::file};
  for (const auto path : {"/run/a.sock"sv, "/run/b.sock"sv}) facts.paths[on(platform, path).text()] = {.kind = PathKind::socket};
  for (const auto& row : policy::credential_paths(facts))
    if (random.chance(50)) facts.paths[row.path.text()] = {.kind = PathKind::missing};
  for (const auto& entry : policy::protected_names())
    if (random.chance(50)) facts.paths[facts.cwd.join(entry.name).text()] = {.kind = PathKind::missing};
  for (const auto& device : policy::device_grants(platform)) facts.paths[device.path.text()] = {.kind = PathKind::device};
  auto& linux = facts.linux;
  linux.kernel = "6.12.0";
  linux.landlock_abi = static_cast<int>(random.below(10));
  linux.seccomp = linux.seccomp_notify = true;
  linux.user_namespaces = linux.landlock_abi == 0 || random.chance(60);
  linux.pid_namespaces = linux.user_namespaces;
  linux.network_namespaces = linux.user_namespaces && random.chance(80);
  linux.cgroup = static_cast<CgroupKind>(random.below(3));
  for (const auto* tool : {"bubblewrap", "firejail", "docker", "podman", "sandbox-exec"})
    facts.tools[tool] = {.path = AbsPath::of(std::string("/usr/bin/") + tool), .version = "1", .works = true};
  return facts;
}

Command sample_command() {
  return {.argv = {"make", "test"}, .cwd = {}, .environment = {{"PATH", "/usr/bin"}, {"GH_TOKEN", "x"}, {"LANG", "C"}}};
}

std::vector<AbsPath> interesting_paths(const Policy& policy, const HostFacts& facts) {
  std::vector<AbsPath> out;
  const policy::PathModel model(policy);
  for (auto list : {model.ruled_paths(), model.unprotected_paths()})
    for (const auto& path : list) add_around(path, out);
  for (const auto& root : model.writable_roots())
    for (const auto* name : {".git/hooks", ".git/config", ".vscode", "harn.toml", ".bashrc", ".git"}) add_around(root.join(name), out);
  for (const auto* name : {".ssh", ".npmrc", ".cargo/credentials.toml", ".config/gh/hosts.yml", ".cargo", ".config", "documents"})
    add_around(facts.home.join(name), out);
  for (const auto path : {"/usr/lib"sv, "/etc/shadow"sv, "/var/log"sv, "/opt/x"sv}) add_around(on(facts.platform, path), out);
  for (const auto& device : policy::device_grants(facts.platform)) out.push_back(device.path);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace harn::test
