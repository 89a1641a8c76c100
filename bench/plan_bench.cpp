// SPDX-License-Identifier: Apache-2.0
// What deciding costs, before anything runs. Goals: parse + intersect + plan of a typical policy
// under 200 µs; a policy with 10 000 roots under 50 ms.
#include <benchmark/benchmark.h>

#include "harn/plan.h"
#include "harn/policy_text.h"
#include "plan/syscalls/bpf.h"
#include "plan/syscalls/syscalls.h"

namespace {

using namespace harn;

constexpr std::string_view typical = R"(
sandbox_profile = "os_hardened"
side_effect_level = "network"
workspace_roots = ["/home/me/project"]
read_only_roots = ["/home/me/project/vendor", "/home/me/reference"]
[process_sandbox]
read_roots = ["/opt/sdk"]
read_deny_roots = ["/home/me/project/secrets"]
[network]
mode = "limited"
allowed_hosts = ["registry.npmjs.org:443", "*.example.org"]
[limits]
max_memory_mb = 512
max_processes = 64
wall_time = "30s"
)";

// A developer's machine: the system, one toolchain, a few dotfiles, some of them secret.
constexpr const char* existing[] = {"/home/me",
                                    "/home/me/project",
                                    "/home/me/project/vendor",
                                    "/home/me/project/secrets",
                                    "/home/me/project/.git",
                                    "/home/me/project/.git/hooks",
                                    "/home/me/project/.git/config",
                                    "/home/me/reference",
                                    "/opt/sdk",
                                    "/opt",
                                    "/usr",
                                    "/etc",
                                    "/bin",
                                    "/sbin",
                                    "/lib",
                                    "/lib64",
                                    "/etc/shadow",
                                    "/etc/sudoers",
                                    "/etc/ssl/private",
                                    "/home/me/.cargo",
                                    "/home/me/.rustup",
                                    "/home/me/.nvm",
                                    "/home/me/.local/bin",
                                    "/home/me/.npm",
                                    "/home/me/.npmrc",
                                    "/home/me/.gitconfig",
                                    "/home/me/.config/git",
                                    "/home/me/.ssh",
                                    "/home/me/.aws",
                                    "/home/me/.config/gh",
                                    "/home/me/.docker/config.json",
                                    "/home/me/.bash_history",
                                    "/home/me/.claude",
                                    "/home/me/.mozilla",
                                    "/dev/null",
                                    "/dev/zero",
                                    "/dev/full",
                                    "/dev/random",
                                    "/dev/urandom",
                                    "/dev/tty"};

HostFacts host();

HostFacts typical_host() {
  auto facts = host();
  facts.unlisted = PathKind::missing;
  for (const auto* path : existing) facts.paths[path] = {.kind = PathKind::directory};
  return facts;
}

// Worst case: everything Harn has ever heard of exists.
HostFacts host() {
  HostFacts facts;
  facts.home = AbsPath::of("/home/me");
  facts.temp = AbsPath::of("/tmp");
  facts.cwd = facts.project_root = AbsPath::of("/home/me/project");
  facts.unlisted = PathKind::directory;
  facts.linux = {.kernel = "6.12",
                 .landlock_abi = 7,
                 .seccomp = true,
                 .seccomp_notify = true,
                 .user_namespaces = true,
                 .pid_namespaces = true,
                 .network_namespaces = true,
                 .cgroup = CgroupKind::v2};
  return facts;
}

const Command command{.argv = {"make", "test"}, .cwd = {}, .environment = {{"PATH", "/usr/bin"}, {"HOME", "/home/me"}, {"GH_TOKEN", "x"}}};
const TextContext context{.home = AbsPath::of("/home/me"), .file_name = "policy.toml"};

void parse_intersect_plan(benchmark::State& state) {
  const auto facts = typical_host();
  const auto ceiling = with_project_root(*parse_policy_toml(typical, context), facts.project_root);
  for (auto _ : state) {
    const auto policy = parse_policy_toml(typical, context);
    const auto both = intersect(ceiling, *policy);
    auto plan = make_plan(both.policy, command, facts);
    if (!plan) state.SkipWithError(plan.error().message.c_str());
    benchmark::DoNotOptimize(plan);
  }
}
BENCHMARK(parse_intersect_plan)->Unit(benchmark::kMicrosecond);

void parse_only(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(parse_policy_toml(typical, context));
}
BENCHMARK(parse_only)->Unit(benchmark::kMicrosecond);

void intersect_only(benchmark::State& state) {
  const auto policy = parse_policy_toml(typical, context);
  for (auto _ : state) benchmark::DoNotOptimize(intersect(*policy, *policy));
}
BENCHMARK(intersect_only)->Unit(benchmark::kMicrosecond);

void plan_only(benchmark::State& state) {
  const auto facts = typical_host();
  const auto policy = parse_policy_toml(typical, context);
  for (auto _ : state) benchmark::DoNotOptimize(make_plan(*policy, command, facts));
}
BENCHMARK(plan_only)->Unit(benchmark::kMicrosecond);

void plan_where_everything_exists(benchmark::State& state) {
  const auto facts = host();
  const auto policy = parse_policy_toml(typical, context);
  for (auto _ : state) benchmark::DoNotOptimize(make_plan(*policy, command, facts));
}
BENCHMARK(plan_where_everything_exists)->Unit(benchmark::kMicrosecond);

void compile_syscall_filter(benchmark::State& state) {
  const auto filter = plan::plan_syscalls({});
  for (auto _ : state) benchmark::DoNotOptimize(plan::compile_filter(*filter));
}
BENCHMARK(compile_syscall_filter)->Unit(benchmark::kMicrosecond);

Policy many_roots(std::int64_t count) {
  Policy policy;
  policy.workspace_roots = {AbsPath::of("/home/me/project")};
  policy.read_only_roots.emplace();
  for (std::int64_t i = 0; i < count; ++i)
    policy.read_only_roots->push_back(AbsPath::of("/srv/packages/" + std::to_string(i % 100) + "/package-" + std::to_string(i)));
  return policy;
}

void plan_with_roots(benchmark::State& state) {
  const auto facts = host();
  const auto policy = many_roots(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(make_plan(policy, command, facts));
  state.SetComplexityN(state.range(0));
}
BENCHMARK(plan_with_roots)->Arg(100)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMillisecond)->Complexity();

}  // namespace
