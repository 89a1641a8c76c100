// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "plan/lower.h"
#include "plan/wrappers/container_words.h"
#include "support/argv_mounts.h"

namespace harn::plan {
namespace {

using Words = std::vector<std::string>;

HostFacts host() {
  HostFacts facts;
  facts.uid = facts.gid = 1000;
  facts.home = AbsPath::of("/home/me");
  facts.cwd = facts.project_root = AbsPath::of("/w");
  facts.linux.cgroup = CgroupKind::v2;
  for (const auto* directory : {"/w", "/w/sub", "/w/sub/keep", "/w/secret", "/w/secret/open", "/usr", "/usr/share/doc", "/opt/tools"})
    facts.paths[directory] = {.kind = PathKind::directory};
  facts.paths["/w/key"] = {.kind = PathKind::file};
  return facts;
}

// One workspace without protected names.
Policy bare() {
  Policy policy;
  policy.workspace_roots = {AbsPath::of("/w")};
  policy.unprotect = *policy.workspace_roots;
  return policy;
}

struct Case {
  Policy policy = bare();
  HostFacts facts = host();
  Command command = {.argv = {"make", "test"}};
  std::map<std::string, std::string> env = {};
};

Result<Plan> lowered(const Case& given, Lower lower = lower_docker) {
  const auto rules = PathRules::for_processes(given.policy, given.facts);
  Plan plan{.argv = given.command.argv, .cwd = given.facts.cwd};
  plan.env.variables = given.env;
  HARN_OK(lower({.policy = given.policy, .command = given.command, .facts = given.facts, .rules = rules}, plan));
  return plan;
}

Words argv(const Result<Plan>& plan) {
  EXPECT_TRUE(plan) << (plan ? "" : plan.error().message);
  return plan ? std::get<Wrapper>(plan->confinement).argv : Words{};
}

// The values of one option, in order, without harn's own mount.
Words values(const Result<Plan>& plan, std::string_view option) {
  Words out;
  const auto words = argv(plan);
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == option && words[i + 1].find("@dir:inside") == std::string::npos) out.push_back(words[i + 1]);
  return out;
}

const Gap* gap(const Plan& plan, std::string_view code) {
  const auto it = std::find_if(plan.coverage.gaps.begin(), plan.coverage.gaps.end(), [&](const Gap& entry) { return entry.code == code; });
  return it == plan.coverage.gaps.end() ? nullptr : &*it;
}

std::vector<AbsPath> paths(std::initializer_list<std::string_view> texts) {
  std::vector<AbsPath> out;
  for (const auto text : texts) out.push_back(AbsPath::of(text));
  return out;
}

TEST(Docker, SpellsOutTheWholeCommandLine) {
  const auto plan = lowered({.env = {{"LANG", "C"}}});
  EXPECT_EQ(base::join(argv(plan), " "),
            "docker --host unix:///var/run/docker.sock --config @dir:config create --pull never --interactive --name @run:name "
            "--label harn.run=@run:id --label harn.owner=@run:owner --log-driver none --no-healthcheck --network none --ulimit core=1:1 "
            "--user 1000:1000 --cap-drop ALL --security-opt no-new-privileges "
            "--security-opt seccomp=@file:seccomp.json --security-opt label=disable --ipc private --read-only "
            "--tmpfs /tmp:rw,exec,nosuid,nodev,mode=1777,size=1g,uid=1000,gid=1000 --tmpfs "
            "/var/tmp:rw,exec,nosuid,nodev,mode=1777,size=1g,uid=1000,gid=1000 --tmpfs "
            "/home/me:rw,exec,nosuid,nodev,mode=1777,size=1g,uid=1000,gid=1000 "
            "--mount type=bind,source=/w,target=/w --env LANG --env TEMP=/tmp --env TMP=/tmp --env TMPDIR=/tmp --env TMPPREFIX "
            "--mount type=bind,source=@dir:inside,target=/.harn,readonly --workdir /w --entrypoint /.harn/entry python:3.12-slim "
            "run /.harn/report - @run:canary @run:pid @run:network @run:writable make test");
  EXPECT_EQ(std::get<Wrapper>(plan->confinement).files.front().name, "seccomp.json");
}

TEST(Docker, PodmanKeepsTheUserAndCopiesNothingUp) {
  Case given;
  given.policy.process_sandbox.read_deny_roots = paths({"/w/secret"});
  const auto plan = lowered(given, lower_podman);
  EXPECT_EQ(argv(plan).front(), "podman");
  EXPECT_EQ(values(plan, "--userns"), Words{"keep-id"});
  EXPECT_EQ(values(plan, "--tmpfs").front(), "/tmp:rw,exec,nosuid,nodev,mode=1777,size=1g,notmpcopyup");
  EXPECT_EQ(values(plan, "--mount").back(), "type=tmpfs,target=/w/secret,tmpfs-size=4096,tmpfs-mode=0100,ro,notmpcopyup");
  given.facts.uid = 0;
  EXPECT_TRUE(values(lowered(given, lower_podman), "--userns").empty());
}

TEST(Docker, LowersEveryLimit) {
  Case given;
  given.policy.limits = {.max_memory_mb = 512,
                         .max_cpu_seconds = 30,
                         .max_processes = 64,
                         .max_file_size_mb = 100,
                         .max_output_bytes = 10,
                         .max_open_files = 256,
                         .cpu_milli = 1500,
                         .wall_time = std::chrono::seconds(5),
                         .idle_timeout = std::chrono::seconds(2)};
  const auto plan = lowered(given);
  EXPECT_EQ(values(plan, "--memory"), Words{"512m"});
  EXPECT_EQ(values(plan, "--memory-swap"), Words{"512m"});
  EXPECT_EQ(values(plan, "--pids-limit"), Words{"64"});
  EXPECT_EQ(values(plan, "--cpus"), Words{"1.500"});
  EXPECT_EQ(values(plan, "--ulimit"), (Words{"core=1:1", "cpu=30:31", "fsize=104857600:104857600", "nofile=256:256"}));
  EXPECT_EQ(plan->limits, (LimitPlan{.wall_time_ms = 5000, .idle_timeout_ms = 2000, .max_output_bytes = 10}));
  for (const auto dimension : {Dimension::memory, Dimension::processes, Dimension::file_size, Dimension::wall_time})
    EXPECT_EQ(plan->coverage[dimension].status, Enforcement::enforced);
  // Counted for each process, and for the tree where somebody inside was seen to be able to.
  EXPECT_EQ(plan->coverage[Dimension::cpu].status, Enforcement::degraded);
  EXPECT_NE(base::join(argv(plan), " ").find("run /.harn/report 30 @run:canary"), std::string::npos);
  given.facts.tools["docker"].counts_cpu = true;
  EXPECT_EQ(lowered(given)->coverage[Dimension::cpu].status, Enforcement::enforced);
}

TEST(Docker, RootlessPodmanWithoutCgroupV2LimitsNothingAndSaysSo) {
  Case given;
  given.facts.linux.cgroup = CgroupKind::v1;
  given.policy.limits = {.max_memory_mb = 512, .max_processes = 64, .cpu_milli = 500};
  const auto plan = lowered(given, lower_podman);
  for (const auto* option : {"--memory", "--pids-limit", "--cpus"}) EXPECT_TRUE(values(plan, option).empty()) << option;
  for (const auto* code : {"memory_not_limited", "processes_not_limited", "cpu_share_not_limited"})
    EXPECT_NE(gap(*plan, code), nullptr) << code;
  EXPECT_EQ(plan->coverage[Dimension::memory].status, Enforcement::not_enforced);
  EXPECT_EQ(gap(*lowered(given, lower_docker), "memory_not_limited"), nullptr);
  given.facts.uid = 0;
  EXPECT_EQ(gap(*lowered(given, lower_podman), "memory_not_limited"), nullptr);
}

TEST(Docker, NestsMountsAndKeepsTheDirectoriesAboveThemInPlace) {
  Case given;
  given.policy.read_only_roots = paths({"/w/sub/keep"});
  given.policy.process_sandbox.read_deny_roots = paths({"/w/key", "/w/secret"});
  EXPECT_EQ(values(lowered(given), "--mount"),
            (Words{"type=bind,source=/w,target=/w", "type=bind,source=/dev/null,target=/w/key,readonly",
                   "type=tmpfs,target=/w/secret,tmpfs-size=4096,tmpfs-mode=0100,readonly", "type=bind,source=/w/sub,target=/w/sub",
                   "type=bind,source=/w/sub/keep,target=/w/sub/keep,readonly,bind-nonrecursive"}));
  given.policy.process_sandbox.write_roots = paths({"/w/secret/open"});
  EXPECT_EQ(values(lowered(given), "--mount")[2], "type=tmpfs,target=/w/secret,tmpfs-size=4096,tmpfs-mode=0111,readonly");
}

TEST(Docker, NamesTheMountOptionAsItsVersionDoes) {
  Case given;
  given.policy.read_only_roots = paths({"/w/sub"});
  given.facts.tools["docker"] = {.path = AbsPath::of("/usr/bin/docker"), .version = "28.2.2", .works = true};
  EXPECT_EQ(argv(lowered(given)).front(), "/usr/bin/docker");
  EXPECT_EQ(values(lowered(given), "--mount").back(), "type=bind,source=/w/sub,target=/w/sub,readonly,bind-recursive=disabled");
  given.facts.tools["docker"].version = "20.10.24+dfsg1";
  EXPECT_EQ(values(lowered(given), "--mount").back(), "type=bind,source=/w/sub,target=/w/sub,readonly,bind-nonrecursive");
}

TEST(Docker, MountsNoPresetButEverythingThePolicyNames) {
  Case given;
  given.facts.home = AbsPath::of("/home/me");
  given.facts.paths["/home/me/.npmrc"] = {.kind = PathKind::file};
  given.facts.paths["/opt"] = {.kind = PathKind::directory};
  // Both lie inside what a preset opens for reading anyway.
  given.policy.read_only_roots = paths({"/usr/share/doc", "/opt/tools"});
  given.policy.process_sandbox.presets = {Preset::system_runtime, Preset::developer_toolchains, Preset::package_manager_config};
  EXPECT_EQ(values(lowered(given), "--mount"),
            (Words{"type=bind,source=/home/me/.npmrc,target=/home/me/.npmrc,readonly,bind-nonrecursive",
                   "type=bind,source=/opt/tools,target=/opt/tools,readonly,bind-nonrecursive",
                   "type=bind,source=/usr/share/doc,target=/usr/share/doc,readonly,bind-nonrecursive", "type=bind,source=/w,target=/w"}));
}

TEST(Docker, WithoutUserTempNothingIsWritableButTheWorkspace) {
  Case given;
  given.policy.process_sandbox.presets.emplace();
  const auto plan = lowered(given);
  EXPECT_TRUE(values(plan, "--tmpfs").empty());
  EXPECT_TRUE(values(plan, "--env").empty());
}

TEST(Docker, APrivateHomeTakesThePlaceOfADeniedOne) {
  Case given;
  given.facts.paths["/home"] = given.facts.paths["/home/me"] = {.kind = PathKind::directory};
  given.policy.read_only_roots = paths({"/home"});
  given.policy.process_sandbox.read_deny_roots = paths({"/home/me"});
  EXPECT_EQ(values(lowered(given), "--mount"),
            (Words{"type=bind,source=/home,target=/home,readonly,bind-nonrecursive", "type=bind,source=/w,target=/w"}));
  given.facts.home = AbsPath::of("/home/me/inner");
  given.facts.paths["/home/me/inner"] = {.kind = PathKind::directory};
  EXPECT_EQ(values(lowered(given), "--mount")[1], "type=tmpfs,target=/home/me,tmpfs-size=4096,tmpfs-mode=0111,readonly");
}

TEST(Docker, QuotesMountsAsCsv) {
  const struct {
    std::string path;
    std::string word;
  } rows[] = {{"/w/a b", "type=bind,source=/w/a b,target=/w/a b"},
              {"/w/a,b", "type=bind,\"source=/w/a,b\",\"target=/w/a,b\""},
              {"/w/a\"b", "type=bind,\"source=/w/a\"\"b\",\"target=/w/a\"\"b\""},
              {"/w/a=b", "type=bind,source=/w/a=b,target=/w/a=b"},
              {"/w/ü:x", "type=bind,source=/w/ü:x,target=/w/ü:x"}};
  for (const auto& row : rows) {
    const auto word = MountWords(host(), Engine::docker).word({.op = MountOp::bind, .source = row.path, .target = AbsPath::of(row.path)});
    ASSERT_TRUE(word);
    EXPECT_EQ(*word, row.word);
    EXPECT_EQ(test::csv_fields(*word), (Words{"type=bind", "source=" + row.path, "target=" + row.path}));
  }
}

TEST(Docker, RefusesPathsAnEngineWouldChange) {
  for (const auto* path : {"/w/a\nb", "/w/a\r\nb", "/w/end ", "/w/\xff", "/w/\x7f"}) {
    Case given;
    given.facts.paths[path] = {.kind = PathKind::directory};
    given.policy.read_only_roots = paths({path});
    EXPECT_EQ(lowered(given).error().code, ErrorCode::not_supported) << path;
  }
  Case colon;
  colon.facts.home = AbsPath::of("/home/a:b");
  EXPECT_EQ(lowered(colon).error().code, ErrorCode::not_supported);
}

TEST(Docker, RefusesSystemDirectoriesLoudly) {
  for (const auto* path : {"/", "/bin", "/boot", "/dev/shm", "/etc", "/lib", "/lib64", "/proc/1", "/root", "/run", "/sbin", "/sys/fs",
                           "/usr", "/usr/lib/python3", "/var"}) {
    Case given;
    given.facts.paths[path] = {.kind = PathKind::directory};
    given.policy.read_only_roots = paths({path});
    const auto plan = lowered(given);
    ASSERT_FALSE(plan) << path;
    EXPECT_EQ(plan.error().code, ErrorCode::not_supported);
    EXPECT_NE(plan.error().message.find("'" + std::string(path) + "'"), std::string::npos) << plan.error().message;
  }
}

TEST(Docker, AllowsProjectsInsideSystemDirectories) {
  for (const auto* path : {"/root/project", "/var/tmp/x", "/usr/src/app", "/run/user/1000/x", "/etc/app", "/libs"}) {
    Case given;
    given.facts.paths[path] = {.kind = PathKind::directory};
    given.policy.workspace_roots->push_back(AbsPath::of(path));
    EXPECT_TRUE(lowered(given)) << path;
  }
}

TEST(Docker, RefusesDirectoriesThatHoldADaemonsSocket) {
  Case given;
  given.facts.paths["/w/docker.sock"] = {.kind = PathKind::socket};
  EXPECT_EQ(lowered(given).error().code, ErrorCode::not_supported);
  given.policy.process_sandbox.unix_sockets = {{.path = AbsPath::of("/w/docker.sock"), .allow_dangerous = true}};
  EXPECT_TRUE(lowered(given));
  given.policy.process_sandbox.unix_sockets->front().allow_dangerous = false;
  EXPECT_EQ(lowered(given).error().code, ErrorCode::invalid_policy);
}

TEST(Docker, MountsTheSocketsThePolicyNames) {
  Case given;
  given.facts.paths["/run/postgres/s"] = {.kind = PathKind::socket};
  given.policy.process_sandbox.unix_sockets = {{.path = AbsPath::of("/run/postgres/s")}, {.path = AbsPath::of("/run/not/there")}};
  EXPECT_EQ(values(lowered(given), "--mount").back(), "type=bind,source=/run/postgres/s,target=/run/postgres/s");
}

TEST(Docker, NeverMountsOverANameThatIsNotThere) {
  Case given;
  given.policy.process_sandbox.read_deny_roots = paths({"/w/later"});
  const auto plan = lowered(given);
  EXPECT_EQ(values(plan, "--mount"), Words{"type=bind,source=/w,target=/w"});
  EXPECT_EQ(gap(*plan, "absent_protected_name")->paths, paths({"/w/later"}));
}

TEST(Docker, LeavesLinksAloneBecauseTheEngineWouldFollowThem) {
  Case given;
  given.facts.paths["/w/sub"] = {.kind = PathKind::directory, .link_target = AbsPath::of("/elsewhere")};
  given.policy.process_sandbox.read_deny_roots = paths({"/w/sub/keep"});
  const auto plan = lowered(given);
  EXPECT_EQ(values(plan, "--mount"), Words{"type=bind,source=/w,target=/w"});
  EXPECT_EQ(gap(*plan, "protected_link")->paths, paths({"/w/sub"}));
  given.facts.paths["/data"] = {.kind = PathKind::directory, .link_target = AbsPath::of("/elsewhere")};
  given.policy.read_only_roots = paths({"/data"});
  EXPECT_EQ(lowered(given).error().code, ErrorCode::not_supported);
}

TEST(Docker, OpensTheNetworkOnlyAsAWhole) {
  Case given;
  given.policy.side_effect_level = SideEffectLevel::network;
  given.policy.network = Network{.allowed_hosts = {{.host = "example.org"}}};
  const auto hosts = lowered(given);
  EXPECT_EQ(values(hosts, "--network"), Words{"none"});
  EXPECT_EQ(hosts->coverage[Dimension::network].status, Enforcement::not_enforced);
  EXPECT_NE(gap(*hosts, "per_host_network"), nullptr);
  given.policy.network = Network{.mode = NetworkMode::unrestricted};
  EXPECT_TRUE(values(lowered(given), "--network").empty());
}

TEST(Docker, KeepsValuesOffTheCommandLineAndSteeringNamesFromTheClient) {
  Case given;
  given.env = {{"DOCKER_HOST", "tcp://elsewhere"}, {"HOME", "/home/me"}, {"PATH", "/evil"}, {"SECRET_NAME", "value"}};
  given.policy.process_sandbox.presets.emplace();
  const auto plan = lowered(given);
  EXPECT_EQ(values(plan, "--env"), (Words{"HOME=/home/me", "SECRET_NAME"}));
  EXPECT_EQ(plan->env.variables, (std::map<std::string, std::string>{{"HOME", "/home/me"}, {"SECRET_NAME", "value"}}));
  EXPECT_EQ(plan->env.removed,
            (std::vector<RemovedVariable>{{"DOCKER_HOST", "steers the container engine"}, {"PATH", "the image has its own"}}));
  given.policy.env.set["PATH"] = "/evil";
  EXPECT_EQ(values(lowered(given), "--env"), (Words{"HOME=/home/me", "PATH=/evil", "SECRET_NAME"}));
}

TEST(Docker, TalksOnlyToAnEngineOfThisMachineThatTheCommandCannotReach) {
  const auto with = [](std::map<std::string, std::string> environment, Lower lower = lower_docker) {
    Case given;
    given.command.environment = std::move(environment);
    return lowered(given, lower);
  };
  EXPECT_EQ(values(with({{"DOCKER_HOST", "unix:///run/me/d.sock"}}), "--host"), Words{"unix:///run/me/d.sock"});
  for (const auto* host : {"tcp://elsewhere:2375", "ssh://me@elsewhere", "unix://relative", "fd://3"})
    EXPECT_EQ(with({{"DOCKER_HOST", host}}).error().code, ErrorCode::not_supported) << host;
  EXPECT_EQ(with({{"DOCKER_CONTEXT", "remote"}}).error().code, ErrorCode::not_supported);
  EXPECT_TRUE(with({{"DOCKER_CONTEXT", "default"}}));
  EXPECT_EQ(with({{"DOCKER_HOST", "unix:///w/d.sock"}}).error().code, ErrorCode::not_supported);
  EXPECT_EQ(with({{"CONTAINER_HOST", "ssh://elsewhere"}}, lower_podman).error().code, ErrorCode::not_supported);
  EXPECT_EQ(with({{"CONTAINERS_CONF", "/w/containers.conf"}}, lower_podman).error().code, ErrorCode::not_supported);
  const auto plan = with({{"CONTAINERS_CONF", "/etc/mine.conf"}, {"PATH", "/w/bin"}, {"LD_PRELOAD", "/w/x.so"}}, lower_podman);
  ASSERT_TRUE(plan);
  EXPECT_EQ(std::get<Wrapper>(plan->confinement).environment,
            (std::map<std::string, std::string>{{"CONTAINERS_CONF", "/etc/mine.conf"},
                                                {"HOME", "/home/me"},
                                                {"LC_ALL", "C"},
                                                {"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}}));
}

TEST(Docker, ASocketInAReadableDirectoryIsAsGoodAsTheDaemon) {
  Case given;
  given.facts.paths["/run/me"] = {.kind = PathKind::directory};
  given.policy.read_only_roots = paths({"/run/me"});
  given.command.environment = {{"DOCKER_HOST", "unix:///run/me/d.sock"}};
  EXPECT_EQ(lowered(given).error().code, ErrorCode::not_supported);
  given.command.environment = {{"DOCKER_HOST", "unix:///var/run/me/d.sock"}};  // another spelling of the same place
  EXPECT_EQ(lowered(given).error().code, ErrorCode::not_supported);
}

TEST(Docker, RefusesImagesThatAreOptionsAndWordsThatAreNotText) {
  for (const auto* image : {"", "--privileged", "a b", "a\tb"}) {
    Case given;
    given.command.image = image;
    EXPECT_EQ(lowered(given).error().code, ErrorCode::invalid_command) << image;
  }
  Case given;
  given.command.argv = {"echo", "\xff"};
  EXPECT_EQ(lowered(given).error().code, ErrorCode::not_supported);
}

TEST(Docker, HandsTheCommandOverWordByWord) {
  Case given;
  given.command.argv = {"/bin/echo", "", "--", "--privileged", "a b", "it's", "\"", "$HOME", "`id`", "*", "\n", "\\"};
  EXPECT_EQ(test::understand_container(argv(lowered(given)), given.facts).command, given.command.argv);
}

TEST(Docker, GuestsStandBesideWhatIsGranted) {
  Case given;
  given.policy.read_only_roots = paths({"/w/sub/keep"});
  const auto rules = PathRules::for_processes(given.policy, given.facts);
  const auto with = [&](std::vector<GuestMount> guests) -> Result<Plan> {
    Plan plan{.argv = given.command.argv, .cwd = given.facts.cwd};
    HARN_OK(
        lower_podman({.policy = given.policy, .command = given.command, .facts = given.facts, .rules = rules, .guests = &guests}, plan));
    return plan;
  };
  const auto shown = values(with({{.source = AbsPath::of("/w/sub"), .target = AbsPath::of("/mnt/x"), .writable = true}}), "--mount");
  const auto has = [&](std::string_view word) {
    return std::ranges::any_of(shown, [&](const std::string& one) { return one.starts_with(word); });
  };
  EXPECT_TRUE(has("type=bind,source=/w/sub,target=/mnt/x"));
  EXPECT_TRUE(has("type=bind,source=/w/sub/keep,target=/mnt/x/keep,readonly"));
  // Over what the policy opens, or from what it does not.
  EXPECT_FALSE(with({{.source = AbsPath::of("/w/sub"), .target = AbsPath::of("/w/other")}}));
  EXPECT_FALSE(with({{.source = AbsPath::of("/elsewhere"), .target = AbsPath::of("/mnt/x")}}));
}

TEST(Docker, AnotherCommandInTheSameContainer) {
  auto plan = lowered({.env = {{"A", "1"}}}, lower_podman);
  ASSERT_TRUE(plan);
  plan->env.variables = {{"B", "2"}, {"CONTAINERS_CONF", "/x"}};
  change_command(bare(), {"true"}, *plan);
  EXPECT_EQ(values(plan, "--env"), (Words{"B"}));
  EXPECT_EQ(plan->argv, Words{"true"});
  EXPECT_EQ(argv(plan).back(), "true");
  EXPECT_FALSE(plan->env.variables.contains("CONTAINERS_CONF"));
}

}  // namespace
}  // namespace harn::plan
