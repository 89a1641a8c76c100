// SPDX-License-Identifier: Apache-2.0
#include "plan/wrappers/bubblewrap.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "plan/lower.h"
#include "support/argv_mounts.h"
#include "support/temp_dir.h"

namespace harn::plan {
namespace {

using Words = std::vector<std::string>;

HostFacts host() {
  HostFacts facts;
  facts.uid = facts.gid = 1000;
  facts.home = AbsPath::of("/home/me");
  facts.cwd = facts.project_root = AbsPath::of("/w");
  facts.linux.pid_namespaces = true;
  for (const auto* directory : {"/w", "/w/sub", "/w/sub/keep", "/w/secret", "/w/secret/open", "/usr"})
    facts.paths[directory] = {.kind = PathKind::directory};
  facts.paths["/w/key"] = {.kind = PathKind::file};
  facts.paths["/bin"] = {.kind = PathKind::directory, .link_target = AbsPath::of("/usr/bin")};
  facts.paths["/usr/bin"] = {.kind = PathKind::directory};
  return facts;
}

// One workspace without presets and protected names.
Policy bare() {
  Policy policy;
  policy.workspace_roots = {AbsPath::of("/w")};
  policy.unprotect = *policy.workspace_roots;
  policy.process_sandbox.presets = {Preset::user_temp};
  return policy;
}

Result<Plan> lowered(const Policy& policy, const HostFacts& facts = host(), const Words& words = {"make", "test"}) {
  const Command command{.argv = words};
  const auto rules = PathRules::for_processes(policy, facts);
  Plan plan{.argv = words, .cwd = facts.cwd};
  HARN_OK(lower_bubblewrap({.policy = policy, .command = command, .facts = facts, .rules = rules}, plan));
  return plan;
}

Words argv(const Result<Plan>& plan) {
  EXPECT_TRUE(plan) << (plan ? "" : plan.error().message);
  return plan ? std::get<Wrapper>(plan->confinement).argv : Words{};
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

bool has(const Words& words, std::string_view word) { return std::find(words.begin(), words.end(), word) != words.end(); }

TEST(Bubblewrap, SpellsOutTheWholeCommandLine) {
  auto policy = bare();
  policy.process_sandbox.read_deny_roots = paths({"/w/key", "/w/secret"});
  policy.read_only_roots = paths({"/w/sub/keep"});
  EXPECT_EQ(base::join(argv(lowered(policy)), " "),
            "bwrap --die-with-parent --unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --unshare-net "
            "--cap-drop ALL --tmpfs / --dev /dev --tmpfs /home/me --proc /proc --dir /run --tmpfs /tmp --symlink /tmp /var/tmp "
            "--bind /w /w --ro-bind /dev/null /w/key --perms 0000 --tmpfs /w/secret --bind /w/sub /w/sub "
            "--ro-bind /w/sub/keep /w/sub/keep --remount-ro / --remount-ro /proc --remount-ro /w/secret "
            "--seccomp @file:seccomp.bpf --json-status-fd @status --chdir /w -- make test");
}

TEST(Bubblewrap, UsesTheProgramThatWasFoundAndTried) {
  auto facts = host();
  facts.tools["bubblewrap"] = {.path = AbsPath::of("/usr/bin/bwrap"), .version = "0.8.0", .works = true};
  EXPECT_EQ(argv(lowered(bare(), facts)).front(), "/usr/bin/bwrap");
}

TEST(Bubblewrap, TranslatesEachKindOfStep) {
  auto facts = host();
  facts.paths["/w/gpu"] = {.kind = PathKind::device};
  const struct {
    MountStep step;
    Words want;
  } rows[] = {
      {{.op = MountOp::bind, .source = "/w", .target = AbsPath::of("/w")}, {"--bind", "/w", "/w"}},
      {{.op = MountOp::bind_read, .source = "/usr", .target = AbsPath::of("/usr")}, {"--ro-bind", "/usr", "/usr"}},
      {{.op = MountOp::bind, .source = "/w/gpu", .target = AbsPath::of("/w/gpu"), .file = true}, {"--dev-bind", "/w/gpu", "/w/gpu"}},
      {{.op = MountOp::symlink, .source = "usr/bin", .target = AbsPath::of("/bin")}, {"--symlink", "usr/bin", "/bin"}},
      {{.op = MountOp::directory, .target = AbsPath::of("/run")}, {"--dir", "/run"}},
      {{.op = MountOp::tmpfs, .target = AbsPath::of("/tmp")}, {"--tmpfs", "/tmp"}},
      {{.op = MountOp::tmpfs, .target = AbsPath::of("/")}, {"--tmpfs", "/", "--remount-ro", "/"}},
      {{.op = MountOp::dev, .target = AbsPath::of("/dev")}, {"--dev", "/dev"}},
      {{.op = MountOp::proc, .target = AbsPath::of("/proc")}, {"--proc", "/proc", "--remount-ro", "/proc"}},
      // Facts may deny pid namespaces; a bwrap that works has one.
      {{.op = MountOp::bind_read, .source = "/proc", .target = AbsPath::of("/proc")}, {"--proc", "/proc", "--remount-ro", "/proc"}},
      {{.op = MountOp::hide, .target = AbsPath::of("/w/key"), .file = true}, {"--ro-bind", "/dev/null", "/w/key"}},
      {{.op = MountOp::hide, .target = AbsPath::of("/w/secret")}, {"--perms", "0000", "--tmpfs", "/w/secret", "--remount-ro", "/w/secret"}},
  };
  for (const auto& row : rows) {
    const View view{.mounts = {row.step}};
    EXPECT_EQ(bwrap_mounts(view, {.facts = facts}).words, row.want);
  }
}

TEST(Bubblewrap, AHiddenDirectoryStaysPassableForWhatIsOpenInside) {
  auto policy = bare();
  policy.process_sandbox.read_deny_roots = paths({"/w/secret"});
  policy.process_sandbox.write_roots = paths({"/w/secret/open"});
  const auto words = argv(lowered(policy));
  const Words hide{"--perms", "0111", "--tmpfs", "/w/secret", "--bind", "/w/secret/open", "/w/secret/open"};
  EXPECT_NE(std::search(words.begin(), words.end(), hide.begin(), hide.end()), words.end());
}

TEST(Bubblewrap, SharesTheNetworkOnlyWhenAllOfItIsAllowed) {
  auto policy = bare();
  EXPECT_TRUE(has(argv(lowered(policy)), "--unshare-net"));
  policy.side_effect_level = SideEffectLevel::network;
  policy.network = Network{.mode = NetworkMode::unrestricted};
  EXPECT_FALSE(has(argv(lowered(policy)), "--unshare-net"));
}

TEST(Bubblewrap, NamedHostsStayClosedAndAreReported) {
  auto policy = bare();
  policy.side_effect_level = SideEffectLevel::network;
  policy.network = Network{.allowed_hosts = {{.host = "example.org"}}};
  const auto plan = lowered(policy);
  EXPECT_TRUE(has(argv(plan), "--unshare-net"));
  ASSERT_NE(gap(*plan, "per_host_network"), nullptr);
  EXPECT_EQ(plan->coverage[Dimension::network].status, Enforcement::not_enforced);
}

TEST(Bubblewrap, BlockedPortsInAnOpenNetworkAreAHole) {
  auto policy = bare();
  policy.side_effect_level = SideEffectLevel::network;
  policy.network = Network{.mode = NetworkMode::unrestricted, .blocked_ports = {25}};
  ASSERT_NE(gap(*lowered(policy), "blocked_ports"), nullptr);
}

TEST(Bubblewrap, AnOpenNetworkLeavesOnlyConnectedSocketPairs) {
  auto policy = bare();
  policy.side_effect_level = SideEffectLevel::network;
  policy.network = Network{.mode = NetworkMode::unrestricted};
  EXPECT_EQ(lowered(policy)->coverage[Dimension::unix_sockets].layers, Words{"seccomp"});
  policy.process_sandbox.unix_sockets = {{.path = AbsPath::of("/run/a.sock")}};
  EXPECT_NE(gap(*lowered(policy), "abstract_unix_sockets"), nullptr);
}

TEST(Bubblewrap, NamesThePlacesWhereServicesOfTheHostListen) {
  auto policy = bare();
  EXPECT_EQ(gap(*lowered(policy), "named_unix_sockets")->paths, paths({"/w"}));
  EXPECT_EQ(lowered(policy)->coverage[Dimension::unix_sockets].status, Enforcement::degraded);
  policy.workspace_roots = paths({"/home/me"});
  policy.process_sandbox.unix_sockets = {{.path = AbsPath::of("/run/a.sock")}};
  EXPECT_EQ(gap(*lowered(policy), "named_unix_sockets")->paths, paths({"/home/me"}));
  EXPECT_EQ(lowered(policy)->coverage[Dimension::unix_sockets].status, Enforcement::not_enforced);
}

TEST(Bubblewrap, SaysThatMountsCannotTellWritingFromDeleting) {
  auto policy = bare();
  policy.capabilities = Capabilities::all();
  policy.capabilities->workspace.erase(WorkspaceOp::delete_);
  const auto writes = lowered(policy);
  EXPECT_TRUE(has(argv(writes), "--bind"));
  EXPECT_EQ(gap(*writes, "delete_not_separable")->paths, paths({"/w"}));
  EXPECT_EQ(writes->coverage[Dimension::writes].status, Enforcement::not_enforced);

  policy.capabilities = Capabilities::all();
  policy.capabilities->workspace.erase(WorkspaceOp::write_text);
  const auto deletes = lowered(policy);
  EXPECT_FALSE(has(argv(deletes), "--bind"));
  EXPECT_EQ(deletes->coverage[Dimension::writes].status, Enforcement::degraded);
}

TEST(Bubblewrap, NeverMountsOverANameThatIsNotThere) {
  auto policy = bare();
  policy.process_sandbox.read_deny_roots = paths({"/w/later"});
  const auto plan = lowered(policy);
  EXPECT_FALSE(has(argv(plan), "/w/later"));
  EXPECT_EQ(gap(*plan, "absent_protected_name")->paths, paths({"/w/later"}));
}

TEST(Bubblewrap, LeavesLinksAloneBecauseItWouldFollowThem) {
  auto facts = host();
  facts.paths["/w/key"] = {.kind = PathKind::file, .link_target = AbsPath::of("/w/sub/key")};
  auto policy = bare();
  policy.process_sandbox.read_deny_roots = paths({"/w/key"});
  const auto plan = lowered(policy, facts);
  EXPECT_FALSE(has(argv(plan), "/w/key"));
  EXPECT_EQ(gap(*plan, "protected_link")->paths, paths({"/w/key"}));
}

TEST(Bubblewrap, AHomeThatIsALinkIsStillReplacedByAPrivateOne) {
  auto facts = host();
  facts.paths["/home/me"] = {.kind = PathKind::directory, .link_target = AbsPath::of("/data/me")};
  const auto plan = lowered(bare(), facts);
  EXPECT_TRUE(has(argv(plan), "/home/me"));
  EXPECT_EQ(gap(*plan, "protected_link"), nullptr);
}

TEST(Bubblewrap, RefusesMoreWordsThanItsProgramTakes) {
  auto facts = host();
  facts.unlisted = PathKind::directory;
  auto policy = bare();
  policy.process_sandbox.read_roots.emplace();
  for (int i = 0; i < 3000; ++i) policy.process_sandbox.read_roots->push_back(AbsPath::of("/data/" + std::to_string(i)));
  const auto plan = lowered(policy, facts);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::not_supported);
  EXPECT_NE(plan.error().message.find("at most 9000 words"), std::string::npos);
}

TEST(Bubblewrap, RefusesAnArchitectureItHasNoFilterFor) {
  auto facts = host();
  facts.linux.arch = "vax";
  EXPECT_EQ(lowered(bare(), facts).error().code, ErrorCode::not_supported);
}

TEST(Bubblewrap, RefusesDaemonSocketsThatAreNotNamedAsDangerous) {
  auto policy = bare();
  policy.process_sandbox.unix_sockets = {{.path = AbsPath::of("/run/docker.sock")}};
  EXPECT_EQ(lowered(policy).error().code, ErrorCode::invalid_policy);
}

TEST(Bubblewrap, HandsTheCommandOverWordByWord) {
  const Words words{"/bin/echo", "", "--", "--bind", "a b", "it's", "\"", "$HOME", "`id`", "*", "\n", "\xff", "\\"};
  EXPECT_EQ(test::understand_bwrap(argv(lowered(bare(), host(), words)), host()).command, words);
}

// ---- the real program ----------------------------------------------------------------------------------

// Runs the words and gives back what they print; the exit status goes to `status`.
std::string output_of(Words words, int& status) {
  std::array<int, 2> ends = {};
  if (::pipe(ends.data()) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], 1);
    ::dup2(ends[1], 2);
    std::vector<char*> list;
    for (auto& word : words) list.push_back(word.data());
    list.push_back(nullptr);
    ::execvp(list[0], list.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  std::string text;
  std::array<char, 4096> buffer = {};
  for (ssize_t got = 0; (got = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(got));
  ::close(ends[0]);
  ::waitpid(child, &status, 0);
  return text;
}

// What this machine has at the paths the policy cares about.
HostFacts look(const Policy& policy, const test::TempDir& place) {
  HostFacts facts;
  facts.uid = ::getuid();
  facts.home = AbsPath::of("/nowhere/home");
  facts.cwd = facts.project_root = place.path();
  facts.linux.pid_namespaces = true;
  for (const auto& path : paths_of_interest(policy, facts)) {
    std::error_code ignored;
    PathFact fact;
    const auto status = std::filesystem::status(path.text(), ignored);
    if (std::filesystem::is_directory(status)) fact.kind = PathKind::directory;
    else if (std::filesystem::is_character_file(status)) fact.kind = PathKind::device;
    else if (std::filesystem::exists(status)) fact.kind = PathKind::file;
    if (std::filesystem::is_symlink(path.text(), ignored)) fact.link_target = AbsPath::of(std::filesystem::canonical(path.text()).string());
    facts.paths[path.text()] = fact;
  }
  return facts;
}

class RealBubblewrap : public ::testing::Test {
 protected:
  void SetUp() override {
    int status = 0;
    const auto said = output_of({"bwrap", "--unshare-user", "--ro-bind", "/", "/", "true"}, status);
    if (status != 0) GTEST_SKIP() << "bwrap cannot make a sandbox here: " << said;
  }

  // Runs a shell script under the policy; what only a run can fill in is left out.
  std::string run(const Policy& policy, const std::string& script) {
    auto words = argv(lowered(policy, look(policy, place_), {"/bin/sh", "-c", script}));
    for (const auto* option : {"--seccomp", "--json-status-fd"}) {
      const auto found = std::find(words.begin(), words.end(), option);
      if (found != words.end()) words.erase(found, found + 2);
    }
    int status = 0;
    return output_of(std::move(words), status);
  }

  std::string text_of(std::string_view relative) const {
    std::ifstream file(place_.path(relative).text());
    return {std::istreambuf_iterator<char>(file), {}};
  }

  test::TempDir place_ = {};
};

TEST_F(RealBubblewrap, DoesWhatTheCommandLineWasReadToMean) {
  place_.file("open", "1");
  place_.file("secret/deep/hidden", "2");
  place_.file("key", "3");
  place_.file("sub/keep/fixed", "4");
  Policy policy;
  policy.workspace_roots = {place_.path()};
  policy.process_sandbox.read_deny_roots = {place_.path("secret"), place_.path("key")};
  policy.read_only_roots = {place_.path("sub/keep")};
  const auto said =
      run(policy,
          "cat open; cat secret/deep/hidden; cat key; cat sub/keep/fixed; echo n > made; echo n > key; echo n > sub/keep/fixed;"
          "mv sub moved; mkdir secret/new; echo n > /outside; cat /etc/shadow; true");
  EXPECT_TRUE(said.starts_with("1")) << said;
  EXPECT_EQ(said.find('2'), std::string::npos) << said;
  EXPECT_EQ(said.find('3'), std::string::npos) << said;
  EXPECT_NE(said.find('4'), std::string::npos) << said;
  EXPECT_EQ(text_of("made"), "n\n") << said;
  EXPECT_EQ(text_of("key"), "3");
  EXPECT_EQ(text_of("sub/keep/fixed"), "4");
  EXPECT_FALSE(std::filesystem::exists("/outside"));
  // Harn's own names are absent here: nothing may have been left behind for them.
  Words names;
  for (const auto& entry : std::filesystem::directory_iterator(place_.root())) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (Words{"key", "made", "open", "secret", "sub"}));
}

}  // namespace
}  // namespace harn::plan
