// SPDX-License-Identifier: Apache-2.0
// The contract of SandboxBackend, written once and kept by every backend: each method, each kind of error, each
// transition that is none.
#include "sessions/contract.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <thread>

namespace harn::test {
namespace {

using namespace std::chrono_literals;
using K = SandboxErrorKind;

TEST_P(Contract, NamesItselfAndSaysWhatItCan) {
  EXPECT_EQ(backend_->name(), GetParam().backend);
  const auto able = backend_->capabilities();
  EXPECT_TRUE(able.local_process_sandbox);
  EXPECT_TRUE(able.snapshot);
  EXPECT_TRUE(able.resume);
  EXPECT_EQ(able.network_policy, GetParam().names_hosts);
  EXPECT_EQ(able.suspend_on_idle, GetParam().sleeps_when_idle);
}

TEST_P(Contract, ProvisionGivesARunningSession) {
  const auto session = make({.session_id = SandboxSessionId{"named"}, .labels = {{"tenant", "a"}}});
  EXPECT_EQ(session.id.value, "named");
  EXPECT_EQ(session.backend, GetParam().backend);
  EXPECT_EQ(session.state, SandboxState::running);
  EXPECT_EQ(session.metadata.at("label.tenant"), "a");
  ASSERT_EQ(session.mounts.size(), 2u);
  EXPECT_EQ(session.mounts[0].target, memory_mount);
  EXPECT_EQ(session.mounts[0].access, FilesystemAccess::read_only);
  EXPECT_EQ(session.mounts[1].access, FilesystemAccess::read_write);
  EXPECT_FALSE(make().id.value.empty());
  EXPECT_EQ(backend_->list()->size(), 2u);
}

TEST_P(Contract, MalformedSpecsAreRefusedAndLeaveNothing) {
  const auto kind = [&](SandboxSpec spec) {
    const auto made = backend_->provision(spec);
    return made ? std::optional<K>() : std::optional(made.error().kind);
  };
  const auto mount = [](std::string source, std::string target) {
    return SandboxSpec{.mounts = {{.source = std::move(source), .target = std::move(target)}}};
  };
  EXPECT_EQ(kind({.session_id = SandboxSessionId{" "}}), K::invalid_request);
  EXPECT_EQ(kind({.session_id = SandboxSessionId{"../escape"}}), K::invalid_request);
  for (const auto* target : {"relative", "/", "/mnt/../etc", "/etc", "/usr/bin/x", "/proc", "/tmp"})
    EXPECT_EQ(kind(mount(data(), target)), K::invalid_request) << target;
  for (const auto& source : {std::string("/"), std::string("/etc"), std::string("/proc"), (ground_ / "home").string(),
                             std::string("/dev/null"), (ground_ / "absent").string(), std::string("relative")})
    EXPECT_EQ(kind(mount(source, "/mnt/x")), K::invalid_request) << source;
  EXPECT_EQ(kind({.mounts = {{.source = data(), .target = "/mnt/x"}, {.source = data(), .target = "/mnt/x/"}}}), K::invalid_request);
  EXPECT_EQ(kind({.network_policy = {.allowed_hosts = {"not a host!"}}}), K::network_policy);
  if (!GetParam().names_hosts) {
    EXPECT_EQ(kind({.network_policy = {.allowed_hosts = {"example.org"}}}), K::unsupported);
  }
  EXPECT_TRUE(backend_->list()->empty());
  EXPECT_FALSE(fs::exists(ground_ / "absent"));
  make({.session_id = SandboxSessionId{"twice"}});
  EXPECT_EQ(kind({.session_id = SandboxSessionId{"twice"}}), K::lifecycle);
  EXPECT_EQ(backend_->list()->size(), 1u);
}

TEST_P(Contract, ExecTellsHowItEnded) {
  const auto session = make();
  const auto result = backend_->exec(session.id, {.command = "sh", .args = {"-c", "cat; echo err >&2; exit 3"}, .input = "through\n"});
  ASSERT_TRUE(result) << describe(result.error());
  EXPECT_EQ(*result, (ExecResult{.out = "through\n", .err = "err\n", .exit_code = 3}));
  EXPECT_EQ(sh(session, "kill -9 $$")->exit_code, -9);
  EXPECT_EQ(backend_->exec(session.id, {.command = "no-such-program"}).error().kind, K::exec);
  EXPECT_EQ(backend_->exec(session.id, {.command = " "}).error().kind, K::invalid_request);
  EXPECT_EQ(backend_->exec(session.id, {.command = "true", .env = {{"1BAD", "x"}}}).error().kind, K::invalid_request);
  EXPECT_EQ(backend_->exec(session.id, {.command = "true", .cwd = "/etc"}).error().kind, K::invalid_request);
  EXPECT_EQ(backend_->exec({"absent"}, {.command = "true"}).error().kind, K::session_not_found);
}

TEST_P(Contract, EnvironmentIsThePolicysAndTheRequests) {
  const auto session = make();
  EXPECT_EQ(out(session, "echo $HOST_ONLY,$OPENAI_API_KEY"), "seen,\n");
  const auto result = backend_->exec(
      session.id, {.command = "sh", .args = {"-c", "echo $A; echo $HOST_ONLY"}, .env = {{"A", "b c"}, {"HOST_ONLY", "mine"}}});
  EXPECT_EQ(result->out, "b c\nmine\n");
  EXPECT_EQ(out(session, "echo $HARN_MEMORY_DIR $HARN_OUTPUTS_DIR"),
            inside(session, memory_mount) + " " + inside(session, outputs_mount) + "\n");
}

TEST_P(Contract, WorkingDirectoriesAreInside) {
  const auto session = make();
  const auto root = session.metadata.at("root");
  EXPECT_EQ(out(session, "pwd; mkdir sub"), root + "\n");
  EXPECT_EQ(backend_->exec(session.id, {.command = "pwd", .cwd = "sub"})->out, root + "/sub\n");
  EXPECT_EQ(backend_->exec(session.id, {.command = "pwd", .cwd = std::string(outputs_mount)})->out, inside(session, outputs_mount) + "\n");
}

TEST_P(Contract, TimeoutsNeedNoProgram) {
  const auto session = make({.limits = {.wall_time = 300ms}});
  auto late = sh(session, "echo before; sleep 30");
  ASSERT_TRUE(late);
  EXPECT_TRUE(late->timed_out);
  EXPECT_FALSE(late->success());
  EXPECT_EQ(late->exit_code, -1);
  EXPECT_EQ(late->out, "before\n");
  EXPECT_TRUE(backend_->exec(session.id, {.command = "sleep", .args = {"30"}, .timeout = 100ms})->timed_out);
  EXPECT_TRUE(backend_->exec(session.id, {.command = "sleep", .args = {"30"}, .timeout = 1h})->timed_out);  // the session's counts
}

TEST_P(Contract, MemoryIsLimited) {
  const auto session = make({.limits = {.memory_mb = 64}});
  const auto result = sh(session, "dd if=/dev/zero of=/dev/null bs=300M count=1");
  ASSERT_TRUE(result);
  EXPECT_NE(result->exit_code, 0);
  EXPECT_EQ(out(session, "echo small"), "small\n");
}

TEST_P(Contract, MemoryIsReadOnlyAndOutputsAreNot) {
  const auto session = make();
  const auto memory = inside(session, memory_mount);
  const auto outputs = inside(session, outputs_mount);
  std::ofstream(*session.mounts[0].host_path + "/note") << "remembered";
  EXPECT_EQ(out(session, "cat " + memory + "/note"), "remembered");
  EXPECT_NE(sh(session, "echo x > " + memory + "/note")->exit_code, 0);
  EXPECT_NE(sh(session, "rm " + memory + "/note")->exit_code, 0);
  EXPECT_EQ(sh(session, "echo made > " + outputs + "/result")->exit_code, 0);
  EXPECT_TRUE(fs::exists(*session.mounts[1].host_path + "/result"));
}

// Read-only where everything around it may be written.
TEST_P(Contract, ReadOnlyInsideWritableIsReadOnly) {
  fs::create_directory(ground_ / "data/fixed");
  write("data/fixed/file", "kept");
  const auto session = make({.mounts = {{.source = data(), .target = "/mnt/data", .access = FilesystemAccess::read_write},
                                        {.source = data() + "/fixed", .target = "/mnt/fixed"}}});
  EXPECT_EQ(sh(session, "echo x > " + data() + "/free")->exit_code, 0);
  EXPECT_NE(sh(session, "echo x > " + data() + "/fixed/file")->exit_code, 0);
  if (GetParam().guest_paths) {
    EXPECT_NE(sh(session, "echo x > /mnt/data/fixed/file")->exit_code, 0);
    EXPECT_NE(sh(session, "mv /mnt/data/fixed /mnt/data/moved")->exit_code, 0);
    EXPECT_NE(sh(session, "echo x > /mnt/fixed/file")->exit_code, 0);
  }
  std::ifstream in(ground_ / "data/fixed/file");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "kept");
}

TEST_P(Contract, SingleFilesAreMounted) {
  write("data/one", "one file");
  write("data/other", "not shown");
  const auto session = make({.mounts = {{.source = data() + "/one", .target = "/mnt/one"}}});
  const auto place = inside(session, "/mnt/one");
  EXPECT_EQ(out(session, "cat " + place), "one file");
  EXPECT_NE(sh(session, "echo x > " + place)->exit_code, 0);
  EXPECT_NE(sh(session, "cat " + data() + "/other")->exit_code, 0);
  const auto absent = backend_->provision({.mounts = {{.source = data() + "/typo", .target = "/mnt/typo"}}});
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().kind, K::invalid_request);
  EXPECT_FALSE(fs::exists(ground_ / "data/typo"));
}

TEST_P(Contract, FilesAreAttachedWhileItRuns) {
  const auto session = make();
  write("data/file", "attached");
  EXPECT_NE(sh(session, "cat " + data() + "/file")->exit_code, 0);
  if (!GetParam().changes_alive) {
    const auto refused = backend_->attach_filesystem(session.id, {.source = data(), .target = "/mnt/data"});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, K::unsupported);
    EXPECT_EQ(refused.error().backend, GetParam().backend);
    EXPECT_EQ(backend_->find(session.id)->mounts.size(), 2u);
    return;
  }
  const auto after = backend_->attach_filesystem(session.id, {.source = data(), .target = "/mnt/data"});
  ASSERT_TRUE(after) << describe(after.error());
  EXPECT_EQ(after->mounts.size(), 3u);
  const auto place = inside(*after, "/mnt/data");
  EXPECT_EQ(out(session, "cat " + place + "/file"), "attached");
  EXPECT_NE(sh(session, "echo x > " + place + "/file")->exit_code, 0);
  const auto fresh = backend_->attach_filesystem(session.id, {.target = "/mnt/fresh", .access = FilesystemAccess::read_write});
  ASSERT_TRUE(fresh) << describe(fresh.error());
  EXPECT_EQ(sh(session, "echo x > " + inside(*fresh, "/mnt/fresh") + "/new")->exit_code, 0);
  EXPECT_EQ(backend_->attach_filesystem(session.id, {.source = data(), .target = "/mnt/data"}).error().kind, K::invalid_request);
  EXPECT_EQ(backend_->attach_filesystem(session.id, {.source = "/", .target = "/mnt/root"}).error().kind, K::invalid_request);
  EXPECT_EQ(backend_->attach_filesystem({"absent"}, {.source = data(), .target = "/mnt/d"}).error().kind, K::session_not_found);
}

TEST_P(Contract, NetworkIsClosedUnlessAsked) {
  const auto session = make();
  EXPECT_EQ(out(session, GetParam().network_trial), "closed\n");
  EXPECT_TRUE(backend_->apply_network_policy(session.id, {}));  // as it is
  EXPECT_EQ(backend_->apply_network_policy(session.id, {.unrestricted = true}).error().kind, K::unsupported);
  EXPECT_EQ(backend_->apply_network_policy({"absent"}, {}).error().kind, K::session_not_found);
}

// What is reached then, and what is closed while it streams, is tried in tests/network/session_test.py.
TEST_P(Contract, HostsAreNamedAndTakenAwayWhileItRuns) {
  const NetworkPolicy hosts{.allowed_hosts = {"example.org:443"}};
  const auto session = make();
  if (!GetParam().names_hosts) {
    EXPECT_EQ(backend_->apply_network_policy(session.id, hosts).error().kind, K::unsupported);
    return;
  }
  const auto look = [&] { return out(session, GetParam().network_trial); };
  EXPECT_EQ(look(), "closed\n");
  for (int turn = 0; turn < 2; ++turn) {
    const auto named = backend_->apply_network_policy(session.id, hosts);
    ASSERT_TRUE(named) << describe(named.error());
    EXPECT_EQ(named->metadata.at("network"), "restricted");
    EXPECT_EQ(named->metadata.at("hosts"), "example.org:443");
    EXPECT_EQ(look(), "open\n");
    EXPECT_EQ(backend_->apply_network_policy(session.id, {.unrestricted = true}).error().kind, K::unsupported);
    EXPECT_EQ(backend_->apply_network_policy(session.id, {.allowed_hosts = {"not a host!"}}).error().kind, K::network_policy);
    EXPECT_EQ(look(), "open\n");
    const auto closed = backend_->apply_network_policy(session.id, {});
    ASSERT_TRUE(closed) << describe(closed.error());
    EXPECT_EQ(closed->metadata.at("network"), "none");
    EXPECT_EQ(look(), "closed\n");
  }
}

TEST_P(Contract, SessionsAreMadeWithNamedHosts) {
  if (!GetParam().names_hosts) GTEST_SKIP() << "a container has all of the network or none";
  const auto session = make({.network_policy = {.allowed_hosts = {"example.org"}}});
  EXPECT_EQ(session.metadata.at("network"), "restricted");
  EXPECT_EQ(out(session, "echo $HTTPS_PROXY"), "http://127.0.0.1:3128\n");
  ASSERT_TRUE(backend_->attach_filesystem(session.id, {.source = data(), .target = "/mnt/data"}));
  EXPECT_EQ(out(session, GetParam().network_trial), "open\n");
  ASSERT_TRUE(backend_->apply_network_policy(session.id, {}));
  EXPECT_EQ(out(session, "echo $HTTPS_PROXY"), "\n");
}

TEST_P(Contract, NetworkIsClosedLaterAndOpenedAgain) {
  if (!GetParam().changes_alive) GTEST_SKIP() << "the network of a container is what it was made with";
  const auto session = make({.network_policy = {.unrestricted = true}});
  const auto look = [&] { return out(session, GetParam().network_trial); };
  EXPECT_EQ(look(), "open\n");
  const auto closed = backend_->apply_network_policy(session.id, {});
  ASSERT_TRUE(closed) << describe(closed.error());
  EXPECT_EQ(look(), "closed\n");
  ASSERT_TRUE(backend_->apply_network_policy(session.id, {.unrestricted = true}));
  EXPECT_EQ(look(), "open\n");
}

TEST_P(Contract, SleepsAndWakes) {
  const auto session = make();
  EXPECT_EQ(backend_->suspend(session.id)->state, SandboxState::suspended);
  EXPECT_EQ(backend_->suspend(session.id)->state, SandboxState::suspended);
  EXPECT_EQ(backend_->find(session.id)->state, SandboxState::suspended);
  EXPECT_EQ(backend_->resume(session.id)->state, SandboxState::running);
  EXPECT_EQ(backend_->resume(session.id)->state, SandboxState::running);
  ASSERT_TRUE(backend_->suspend(session.id));
  EXPECT_EQ(out(session, "echo awake"), "awake\n");
  EXPECT_EQ(backend_->find(session.id)->state, SandboxState::running);
  EXPECT_EQ(backend_->suspend({"absent"}).error().kind, K::session_not_found);
  EXPECT_EQ(backend_->resume({"absent"}).error().kind, K::session_not_found);
}

TEST_P(Contract, IdleSessionsSleep) {
  if (!backend_->capabilities().suspend_on_idle) GTEST_SKIP() << "nothing is left to stop between commands here";
  const auto session = make({.limits = {.idle_timeout = 100ms}});
  for (int i = 0; i < 100 && backend_->find(session.id)->state != SandboxState::suspended; ++i) std::this_thread::sleep_for(20ms);
  EXPECT_EQ(backend_->find(session.id)->state, SandboxState::suspended);
  EXPECT_EQ(out(session, "echo awake"), "awake\n");
}

// A session that falls asleep all the time never takes a command along.
TEST_P(Contract, CommandsWinOverSleep) {
  if (GetParam().guest_paths && !GetParam().sleeps_when_idle) {
    EXPECT_EQ(backend_->provision({.limits = {.idle_timeout = 1ms}}).error().kind, K::unsupported);
    EXPECT_TRUE(backend_->list()->empty());
    return;
  }
  const auto session = make({.limits = {.idle_timeout = 1ms}});
  for (int i = 0; i < 60; ++i) EXPECT_EQ(out(session, "echo awake"), "awake\n");
}

TEST_P(Contract, SnapshotsHoldContent) {
  const auto session = make();
  EXPECT_EQ(out(session, "echo first > file; ln -s file link; mkdir d; echo x > $HARN_OUTPUTS_DIR/result"), "");
  const auto taken = backend_->snapshot(session.id);
  ASSERT_TRUE(taken) << describe(taken.error());
  EXPECT_EQ(taken->session_id, session.id);
  EXPECT_EQ(taken->metadata.at("files"), "2");
  EXPECT_EQ(out(session, "echo second > file; rm -r d; echo more > added; rm $HARN_OUTPUTS_DIR/result"), "");
  ASSERT_TRUE(backend_->restore(*taken, session.id));
  EXPECT_EQ(out(session, "cat file link; ls; cat $HARN_OUTPUTS_DIR/result"), "first\nfirst\nd\nfile\nlink\nx\n");
  // Into a new session too, and when the old one is gone.
  ASSERT_TRUE(backend_->terminate(session.id));
  const auto other = make();
  ASSERT_TRUE(backend_->restore(*taken, other.id));
  EXPECT_EQ(out(other, "cat file"), "first\n");
  EXPECT_EQ(backend_->snapshot({"absent"}).error().kind, K::session_not_found);
  EXPECT_EQ(backend_->restore(SandboxSnapshot{.snapshot_id = "absent"}, other.id).error().kind, K::invalid_request);
}

TEST_P(Contract, TerminatedMeansGone) {
  const auto session = make();
  const auto root = session.metadata.at("root");
  EXPECT_EQ(out(session, "echo x > file"), "");
  ASSERT_TRUE(backend_->terminate(session.id));
  EXPECT_FALSE(fs::exists(root));
  EXPECT_TRUE(backend_->list()->empty());
  EXPECT_EQ(backend_->terminate(session.id).error().kind, K::session_not_found);
  EXPECT_EQ(backend_->find(session.id).error().kind, K::session_not_found);
  EXPECT_EQ(backend_->exec(session.id, {.command = "true"}).error().kind, K::session_not_found);
  EXPECT_EQ(backend_->suspend(session.id).error().kind, K::session_not_found);
  EXPECT_EQ(backend_->resume(session.id).error().kind, K::session_not_found);
  EXPECT_EQ(backend_->snapshot(session.id).error().kind, K::session_not_found);
  EXPECT_EQ(backend_->attach_filesystem(session.id, {.source = data(), .target = "/mnt/x"}).error().kind, K::session_not_found);
  EXPECT_EQ(backend_->apply_network_policy(session.id, {}).error().kind, K::session_not_found);
  // The id is free again.
  EXPECT_EQ(make({.session_id = session.id}).id, session.id);
}

TEST_P(Contract, AnotherProgramOfTheSameUserFindsIt) {
  const auto session = make();
  EXPECT_EQ(out(session, "echo left > file"), "");
  open();
  EXPECT_EQ(backend_->find(session.id)->state, SandboxState::running);
  EXPECT_EQ(out(session, "cat file"), "left\n");
}

TEST_P(Contract, ManyCommandsAtOnce) {
  const auto session = make();
  std::array<std::string, 16> said = {};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < said.size(); ++i)
    threads.emplace_back([&, i] {
      const auto result = sh(session, "sleep 0.05; echo " + std::to_string(i) + "; exit " + std::to_string(i));
      said[i] = result ? result->out + std::to_string(result->exit_code) : describe(result.error());
    });
  for (auto& thread : threads) thread.join();
  for (std::size_t i = 0; i < said.size(); ++i) EXPECT_EQ(said[i], std::to_string(i) + "\n" + std::to_string(i));
}

TEST_P(Contract, NothingOutsideIsReached) {
  const auto session = make();
  write("data/secret", "outside");
  EXPECT_NE(sh(session, "cat " + data() + "/secret")->exit_code, 0);
  EXPECT_NE(sh(session, "echo x > " + data() + "/made")->exit_code, 0);
  EXPECT_NE(sh(session, "ls " + (ground_ / "home/.local/state/harn").string())->exit_code, 0);
  EXPECT_NE(sh(session, "ls " + (ground_ / "run/harn").string())->exit_code, 0);
  const auto other = make();
  EXPECT_NE(sh(session, "ls " + other.metadata.at("root"))->exit_code, 0);
  EXPECT_FALSE(fs::exists(ground_ / "data/made"));
}

}  // namespace
}  // namespace harn::test
