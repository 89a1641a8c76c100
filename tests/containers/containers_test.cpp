// SPDX-License-Identifier: Apache-2.0
// Commands in real containers of a real engine, named by HARN_TEST_ENGINE: the same promises as any other
// backend, and nothing left behind.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "base/json.h"
#include "containers/engine_ground.h"
#include "harn/container_session.h"
#include "harn/probe.h"
#include "harn/prove.h"

namespace harn::test {
namespace {

base::Value outcome(const std::string& words) {
  const auto run = ground().harn("--json " + words);
  auto value = base::parse_json(run.out);
  EXPECT_TRUE(value) << run.out << run.err;
  return value ? std::move(*value) : base::Value();
}

bool flag(const base::Value& value, std::string_view name) {
  const auto* member = value.find(name);
  return member != nullptr && member->boolean();
}

std::int64_t number(const base::Value& value, std::string_view name) {
  const auto* member = value.find(name);
  return member == nullptr ? -1000 : member->integer();
}

TEST_F(Containers, RunsWithItsOwnBytesAndExitCode) {
  const auto run = harn("-- sh -c 'echo out; echo err >&2; id -u; pwd; exit 7'");
  EXPECT_EQ(run.exit_code, 7);
  EXPECT_EQ(run.out, "out\n" + std::to_string(ground().uid()) + "\n" + ground().work().text() + "\n");
  EXPECT_EQ(run.err.substr(run.err.size() - 4), "err\n") << run.err;
  // Every byte, also those that detach somebody at a terminal, and none of them on the other stream.
  const auto bytes = ground().shell("head -c 2000000 /dev/urandom > ../in; printf '\\020\\021\\003\\004\\377' >> ../in; " +
                                    ground().harn_words("-- cat") + " < ../in 2>/dev/null | cmp - ../in && " +
                                    ground().harn_words("-- sh -c 'cat >&2'") + " < ../in 2>&1 >/dev/null | cmp - ../in");
  EXPECT_EQ(bytes.exit_code, 0) << bytes.out << bytes.err;
}

TEST_F(Containers, EndsAsAnyOtherCommand) {
  EXPECT_EQ(harn("-- sh -c 'kill -SEGV $$'").exit_code, 128 + SIGSEGV);
  EXPECT_EQ(number(outcome("-- sh -c 'kill -SEGV $$'"), "exit_code"), -SIGSEGV);
  EXPECT_EQ(number(outcome("-- sh -c 'exit 137'"), "exit_code"), 137);  // its own, and no signal
  EXPECT_EQ(harn("-- no-such-program").exit_code, 127);
  EXPECT_EQ(harn("-- /etc").exit_code, 126);
  EXPECT_EQ(harn("-- echo -n --privileged -v /:/host").out, "--privileged -v /:/host");
  // What the command leaves running ends with it, and nobody waits for the stream it holds.
  const auto background = outcome("--timeout 20s -- sh -c 'sleep 1000 & echo started'");
  EXPECT_EQ(number(background, "exit_code"), 0);
  EXPECT_EQ(number(background, "killed_processes"), 1);
}

TEST_F(Containers, LimitsHoldAndAreToldAsInAnyOtherBackend) {
  const auto memory = outcome("--memory 64M -- hog heap 256");
  EXPECT_TRUE(flag(memory, "oom_killed"));
  EXPECT_EQ(number(memory, "exit_code"), -SIGKILL);
  const auto cpu = outcome("--cpu-seconds 1 -- sh -c 'while :; do :; done'");
  EXPECT_TRUE(flag(cpu, "timed_out") && flag(cpu, "cpu_exceeded"));
  EXPECT_EQ(number(cpu, "exit_code"), -SIGXCPU);
  const auto file = outcome("--file-size 1M -- sh -c 'exec yes > big'");
  EXPECT_TRUE(flag(file, "file_size_exceeded"));
  EXPECT_EQ(number(file, "exit_code"), -SIGXFSZ);
  EXPECT_EQ(std::filesystem::file_size(ground().work().join("big").text()), 1u << 20);
  std::filesystem::remove(ground().work().join("big").text());
  const auto forks = outcome("--procs 12 --timeout 20s -- sh -c 'for i in $(seq 40); do sleep 60 & done; echo all'");
  EXPECT_TRUE(flag(forks, "processes_exceeded"));
  EXPECT_LT(number(forks, "killed_processes"), 12);
  const auto output = outcome("--output-limit 1000 --timeout 20s -- sh -c 'yes | head -c 100000; exit 3'");
  EXPECT_TRUE(flag(output, "output_truncated"));
  EXPECT_EQ(number(output, "exit_code"), 3);
}

TEST_F(Containers, TimeIsTheCommandsOwnAndEndsWhatIgnoresIt) {
  const auto polite = outcome("--timeout 500ms -- sleep 100");
  EXPECT_TRUE(flag(polite, "timed_out"));
  EXPECT_EQ(number(polite, "exit_code"), -SIGTERM);
  const auto stubborn = outcome("--timeout 500ms -- sh -c 'trap \"\" TERM; while :; do sleep 1; done'");
  EXPECT_TRUE(flag(stubborn, "timed_out"));
  EXPECT_EQ(number(stubborn, "exit_code"), -SIGKILL);
}

TEST_F(Containers, SignalsReachTheCommand) {
  const auto run = ground().shell("rm -f ../seen; " +
                                  ground().harn_words("-- sh -c 'trap \"echo got; exit 5\" INT; echo up; while :; do sleep 0.1; done'") +
                                  " > ../seen 2>/dev/null & p=$!; while ! grep -qs up ../seen; do sleep 0.05; done; kill -INT $p; wait $p; "
                                  "echo $?; cat ../seen");
  EXPECT_EQ(run.out, "5\nup\ngot\n");
}

TEST_F(Containers, AKilledHarnTakesItsCommandAlongAndTheNextRunSweeps) {
  const auto run = ground().shell(
      "rm -f ../seen; " + ground().harn_words("-- sh -c 'date > beat; echo up; while :; do date >> beat; sleep 0.05; done'") +
      " > ../seen 2>/dev/null & p=$!; while ! grep -qs up ../seen; do sleep 0.05; done; kill -KILL $p; wait $p; "
      "sleep 1; a=$(wc -l < beat); sleep 0.5; b=$(wc -l < beat); rm beat; test $a -ge 1 && test $a = $b && echo still");
  EXPECT_EQ(run.out, "still\n") << run.err;
  // Somebody else's container with our labels on it, and one whose name alone looks like ours.
  const auto ulimits = std::string("--ulimit nofile=512:512 --ulimit nproc=512:512 --network none");
  ground().client("create " + ulimits + " --name theirs harn-hostile:1 true");
  ground().client("create " + ulimits + " --name harn-run-0123456789abcdef harn-test:1 true");
  EXPECT_NE(ground().containers(), "harn-run-0123456789abcdef\ntheirs\n");
  EXPECT_EQ(harn("-- true").exit_code, 0);
  EXPECT_EQ(ground().shell(ground().engine() + " ps --all --format '{{.Names}}' | sort").out, "harn-run-0123456789abcdef\ntheirs\n");
  ground().client("rm --force theirs harn-run-0123456789abcdef");
}

TEST_F(Containers, AnImageDecidesNothing) {
  const auto run = harn("--image harn-hostile:1 -- sh -c 'id -u; pwd; echo $HOME; echo $GREETING'");
  EXPECT_EQ(run.out, "0\n" + ground().work().text() + "\n" + ground().root() + "/home\nimage\n") << run.err;
  const auto volume = harn("--image harn-volume:1 -- sh -c 'touch /data/x'");
  EXPECT_NE(volume.exit_code, 0);
  EXPECT_EQ(std::filesystem::exists(ground().root() + "/home/x"), false);
  const auto why = ground().engine() == "docker" ? "which the policy does not name" : "No such file or directory";
  EXPECT_NE(volume.err.find(why), std::string::npos) << volume.err;
}

TEST_F(Containers, NothingPlantedInTheProjectSteersTheClient) {
  std::filesystem::create_directories(ground().work().join("bin").text());
  for (const auto* name : {"docker", "podman", "runc", "conmon"})
    ground().shell(fmt::format("printf '#!/bin/sh\\ntouch {0}/../planted\\n' > bin/{1}; chmod +x bin/{1}", ground().work().text(), name));
  ground().shell(
      "mkdir -p ../home/.docker; printf '{\"currentContext\":\"evil\",\"proxies\":{\"default\":{\"httpProxy\":\"http://evil\"}}}' > "
      "../home/.docker/config.json");
  const auto run = ground().shell("PATH=$PWD/bin:$PATH " + ground().harn_words("-- sh -c 'echo ran; env' </dev/null"));
  EXPECT_NE(run.out.find("ran\n"), std::string::npos) << run.err;
  EXPECT_EQ(run.out.find("evil"), std::string::npos) << run.out;
  EXPECT_FALSE(std::filesystem::exists(ground().root() + "/planted"));
  std::filesystem::remove_all(ground().work().join("bin").text());
}

TEST_F(Containers, PathsWithTheEnginesOwnMarksArriveWhole) {
  const auto run = ground().shell("mkdir -p 'a:b,c \"d'; cd 'a:b,c \"d'; " + ground().harn_words("-- sh -c 'pwd; echo x > y'") + "; cat y");
  EXPECT_EQ(run.out, ground().work().text() + "/a:b,c \"d\nx\n") << run.err;
  std::filesystem::remove_all(ground().work().join("a:b,c \"d").text());
}

TEST_F(Containers, TheReceiptSaysWhatWasTriedInside) {
  EXPECT_EQ(harn("--receipt ../receipt.json -- true").exit_code, 0);
  std::ifstream file(ground().root() + "/receipt.json");
  auto receipt = base::parse_json(std::string(std::istreambuf_iterator<char>(file), {}));
  ASSERT_TRUE(receipt);
  const auto* dimensions = receipt->find("dimensions");
  ASSERT_NE(dimensions, nullptr);
  for (const auto* name : {"reads", "network", "signals"}) EXPECT_EQ(dimensions->find(name)->find("proof")->string(), "proved") << name;
  EXPECT_NE(receipt->find("layers")->find("image"), nullptr);
}

// Every attack once without a sandbox and once inside, with a harmless neighbour beside it: half a minute of containers, so with one
// engine. The promises of tests/confine are tried in both.
TEST_F(Containers, TheAttackSuiteFindsNoWayOut) {
  if (ground().engine() != "docker") return;
  const auto run = ground().shell(fmt::format("{} doctor sandbox --json --backend {}", HARN_BINARY, ground().engine()));
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  const auto report = base::parse_json(run.out);
  ASSERT_TRUE(report);
  EXPECT_GE(number(*report->find("counts"), "conforms"), 28);
  EXPECT_EQ(number(*report->find("counts"), "escaped"), 0);
}

TEST_F(Containers, AKeptContainerRunsOneCommandAfterAnother) {
  const auto& environment = ground().environment();
  auto facts = probe_host({.environment = environment, .cwd = ground().work()});
  const auto state = AbsPath::of(ground().root() + "/state");
  const auto backend = ground().engine() == "docker" ? Backend::docker : Backend::podman;
  const auto settled =
      settle_engine(facts, {.backend = backend, .environment = environment, .image = "harn-test:1", .place = state}, state);
  ASSERT_TRUE(settled) << settled.error().message;
  Policy policy{.workspace_roots = {{ground().work()}}};
  policy.limits = {.max_memory_mb = 64, .max_processes = 20, .wall_time = std::chrono::seconds(2)};
  look_at_paths(facts, policy);
  const auto plan = [&](std::string script) {
    auto made = make_plan(policy, {.argv = {"sh", "-c", std::move(script)}, .environment = environment, .image = "harn-test:1"}, facts,
                          {.backend = backend});
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    return std::move(*made);
  };
  const RunOptions options{.streams = {Stream::empty, Stream::capture, Stream::capture}, .place = state};
  auto session = ContainerSession::start(plan("exit 1"), options);
  ASSERT_TRUE(session) << session.error().message;
  const auto exec = [&](std::string script) {
    auto made = session->exec(plan(std::move(script)), options);
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    return made ? std::move(*made) : Outcome{};
  };
  EXPECT_EQ(exec("echo one > /tmp/kept; sleep 100 & echo $$; exit 4").exit_code, 4);
  const auto second = exec("cat /tmp/kept; ps | grep -c '[s]leep 100'");
  EXPECT_EQ(second.captured_stdout, "one\n0\n");  // files stay, processes do not
  const auto late = exec("trap '' TERM; while :; do sleep 1; done");
  EXPECT_TRUE(late.timed_out);
  const auto hungry = exec("hog heap 256");
  EXPECT_TRUE(hungry.oom_killed);
  EXPECT_EQ(hungry.exit_code, -SIGKILL);
  EXPECT_FALSE(exec("true").oom_killed);
  auto other = plan("true");
  std::get<Wrapper>(other.confinement).argv.insert(std::get<Wrapper>(other.confinement).argv.begin() + 8, "--privileged");
  EXPECT_EQ(session->exec(other, options).error().code, ErrorCode::refused);
  EXPECT_EQ(session->remove(), "");
  EXPECT_EQ(session->exec(plan("true"), options).error().code, ErrorCode::not_available);
}

}  // namespace
}  // namespace harn::test
