// SPDX-License-Identifier: Apache-2.0
// Modules in every runtime this host has: what they are given they can use, what they are not given they cannot, however they ask,
// and their limits end them. The same acts succeed as a native program without a sandbox, so that a refusal says something.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "cli/run_program.h"
#include "support/temp_dir.h"

namespace harn::test {
namespace {

namespace fs = std::filesystem;

using Words = std::vector<std::string>;

class Modules : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!fs::exists(HARN_MODULES "/act.wasm")) GTEST_SKIP() << "no compiler for modules";
    temp_.file("p/in.txt", "given\n");
    temp_.file("p/sub/in.txt", "given\n");
    temp_.file("p/fixed/in.txt", "given\n");
    temp_.file("p/secret/in.txt", "closed\n");
    temp_.file("p/harn.toml", "");
    temp_.file("data/in.txt", "given\n");
    temp_.file("outside/in.txt", "closed\n");
    temp_.link("p/link", temp_.path("outside/in.txt").text());
    temp_.link("p/relative-link", "../outside/in.txt");
    temp_.link("p/way", temp_.path("outside").text());
    temp_.directory("home");
    for (const auto* name : {"act", "loop", "bomb", "echo", "socket"})
      fs::copy_file(std::string(HARN_MODULES "/") + name + ".wasm", temp_.path(std::string("p/") + name + ".wasm").text());
    const auto tried = harn({"plan", "--json", "--profile", "wasi", "--", "act.wasm"});
    if (tried.exit_code == 0) return;
    const char* required = std::getenv("HARN_REQUIRE");
    ASSERT_TRUE(required == nullptr || std::string(required).find(GetParam()) == std::string::npos) << tried.out;
    GTEST_SKIP() << GetParam() << " does not work here";
  }

  ProgramRun harn(Words words) {
    words.insert(words.begin(), HARN_BINARY);
    return run_program({.argv = std::move(words), .environment = environment_, .cwd = temp_.path("p"), .scratch = temp_.path()});
  }
  ProgramRun module(Words options, Words words) {
    options.insert(options.begin(), {"run", "--profile", "wasi"});
    options.emplace_back("--");
    options.insert(options.end(), words.begin(), words.end());
    return harn(std::move(options));
  }
  ProgramRun unconfined(Words words) {
    words.insert(words.begin(), HARN_MODULES "/act");
    return run_program({.argv = std::move(words), .environment = environment_, .cwd = temp_.path("p"), .scratch = temp_.path()});
  }

  TempDir temp_;
  std::map<std::string, std::string> environment_ = {
      {"HOME", temp_.path("home").text()}, {"PATH", "/usr/bin:/bin"}, {"HARN_WASI_RUNTIME", GetParam()}, {"HARN_PRETEND", ""}};
};

INSTANTIATE_TEST_SUITE_P(Runtimes, Modules, testing::Values("node", "wasmedge", "wasmtime", "wasmer", "iwasm"),
                         [](const auto& runtime) { return std::string(runtime.param); });

TEST_P(Modules, HaveTheirWordsInputVariablesAndExitCode) {
  environment_["A"] = "from outside";
  environment_["MY_TOKEN"] = "sesame";
  environment_["NODE_OPTIONS"] = "--require=./in.txt";
  const auto ran = module({}, {"echo.wasm", "one", "--two", "drei vier", "{host}"});
  EXPECT_EQ(ran.exit_code, 5) << ran.err;
  EXPECT_EQ(ran.out, "one\n--two\ndrei vier\n{host}\nA=from outside\n");
  EXPECT_NE(ran.err.find("to stderr\n"), std::string::npos) << ran.err;
  const auto acted = module({"--clear-env", "--env", "B=1"},
                            {"act.wasm", "variable", "B", "variable", "A", "variable", "MY_TOKEN", "variable", "GUEST_B"});
  EXPECT_NE(acted.out.find("variable B: ok\n"), std::string::npos) << acted.out;
  EXPECT_EQ(acted.out.find("ok\n", acted.out.find("variable A")), std::string::npos) << acted.out;
}

TEST_P(Modules, UseWhatThePolicyOpens) {
  const Words acts = {"read",   "in.txt",
                      "read",   "./sub/in.txt",
                      "write",  "new.txt",
                      "read",   "new.txt",
                      "make",   "d",
                      "list",   ".",
                      "remove", "new.txt",
                      "read",   temp_.path("p/in.txt").text(),
                      "write",  temp_.path("p/sub/more").text()};
  Words words = {"act.wasm"};
  words.insert(words.end(), acts.begin(), acts.end());
  const auto ran = module({"--write", ".", "--read", temp_.path("data").text()}, words);
  EXPECT_EQ(ran.exit_code, 42) << ran.err;
  for (std::size_t i = 0; i < acts.size(); i += 2)
    EXPECT_NE(ran.out.find(acts[i] + " " + acts[i + 1] + ": ok\n"), std::string::npos) << ran.out;
  EXPECT_TRUE(fs::exists(temp_.path("p/d").text()));
  const auto data = module({"--write", ".", "--read", temp_.path("data").text()}, {"act.wasm", "read", temp_.path("data/in.txt").text()});
  EXPECT_NE(data.out.find(": ok\n"), std::string::npos) << data.out;
}

TEST_P(Modules, EveryWayOutIsClosed) {
  const auto outside = temp_.path("outside/in.txt").text();
  const auto data = temp_.path("data/in.txt").text();
  const Words acts = {"read",         "/etc/passwd",
                      "raw-read",     "/etc/passwd",
                      "raw-read",     outside,
                      "raw-read",     "../outside/in.txt",
                      "raw-read",     "sub/../../outside/in.txt",
                      "raw-read",     "link",
                      "raw-read",     "relative-link",
                      "raw-read",     "way/in.txt",
                      "raw-read",     "secret/in.txt",
                      "raw-read",     "../../../../../../../../etc/passwd",
                      "raw-read",     "/proc/self/status",
                      "read",         "../outside/in.txt",
                      "read",         "sub/../../outside/in.txt",
                      "read",         outside,
                      "read",         "link",
                      "read",         "relative-link",
                      "read",         "way/in.txt",
                      "list",         "way",
                      "list",         "..",
                      "list",         "/etc",
                      "read",         "../../../../../../../../etc/passwd",
                      "read",         "/proc/self/status",
                      "list",         "/proc/self/fd",
                      "through-link", outside,
                      "through-link", "../outside/in.txt",
                      "write",        "../outside/new",
                      "write",        "way/new",
                      "make",         "../outside/d",
                      "read",         "secret/in.txt",
                      "list",         "secret",
                      "write",        data,
                      "write",        "fixed/new",
                      "write",        "fixed/in.txt",
                      "write",        "harn.toml",
                      "remove",       "fixed/in.txt",
                      "write",        "/tmp/x-harn-wasi"};
  auto control = unconfined(acts);
  for (std::size_t i = 0; i < acts.size(); i += 2)
    EXPECT_NE(control.out.find(acts[i] + " " + acts[i + 1] + ": ok\n"), std::string::npos)
        << "without a sandbox: " << acts[i] << " " << acts[i + 1];
  fs::remove("/tmp/x-harn-wasi");
  fs::remove_all(temp_.path("outside").text());
  temp_.file("outside/in.txt", "closed\n");
  temp_.file("p/fixed/in.txt", "given\n");
  fs::remove(temp_.path("p/fixed/new").text());
  fs::remove(temp_.path("p/made-link").text());
  temp_.file("p/harn.toml", "");

  Words words = {"act.wasm"};
  words.insert(words.end(), acts.begin(), acts.end());
  const auto ran = module({"--write", ".", "--read", temp_.path("data").text(), "--read", "fixed", "--deny", "secret"}, words);
  EXPECT_EQ(ran.exit_code, 42) << ran.err;
  for (std::size_t i = 0; i < acts.size(); i += 2) {
    const auto line = ran.out.find(acts[i] + " " + acts[i + 1] + ": ");
    ASSERT_NE(line, std::string::npos) << ran.out;
    EXPECT_EQ(ran.out.find(acts[i] + " " + acts[i + 1] + ": ok\n"), std::string::npos) << acts[i] << " " << acts[i + 1];
  }
  EXPECT_FALSE(fs::exists(temp_.path("outside/new").text()));
  EXPECT_FALSE(fs::exists(temp_.path("p/fixed/new").text()));
  EXPECT_FALSE(fs::exists("/tmp/x-harn-wasi"));
}

// A link in the workspace, made by an earlier command: a runtime that is a boundary of its own does not follow it out of its
// directories. Node does, to what the sandbox lets Node itself read and no further, and no receipt claims otherwise.
TEST_P(Modules, LinksLeadToWhatTheRuntimeMayReadAtMost) {
  temp_.link("p/etc", "/etc");
  temp_.link("p/self", "/proc/self");
  const bool boundary = std::string(GetParam()) != "node";
  const Words outside = {"raw-read", "etc/passwd", "raw-read", "self/status"};
  const auto control = unconfined(outside);
  for (std::size_t i = 0; i < outside.size(); i += 2)
    EXPECT_NE(control.out.find(outside[i] + " " + outside[i + 1] + ": ok\n"), std::string::npos) << control.out;
  Words words = {"act.wasm", "raw-read", "way/in.txt", "raw-read", "link"};
  words.insert(words.end(), outside.begin(), outside.end());
  const auto ran = module({"--json", "--write", "."}, words);
  EXPECT_EQ(ran.out.find("way/in.txt: ok"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.out.find("link: ok"), std::string::npos) << ran.out;
  if (boundary) {
    for (const auto* name : {"etc/passwd: ok", "self/status: ok"}) EXPECT_EQ(ran.out.find(name), std::string::npos) << ran.out;
  }
  const auto plan = harn({"plan", "--json", "--profile", "wasi", "--write", ".", "--", "act.wasm"});
  const auto layers = "\"wasi\"";
  const auto coverage = plan.out.substr(plan.out.find("\"coverage\""));
  EXPECT_EQ(coverage.find(layers) != std::string::npos, boundary) << coverage;
  EXPECT_EQ(plan.out.find("is no boundary of its own") == std::string::npos, boundary) << plan.out;
}

TEST_P(Modules, WithoutAViewTheSameIsClosed) {
  environment_["HARN_PRETEND"] = "userns=no";
  const Words acts = {"read",  "/etc/passwd", "read",  "../outside/in.txt", "read",  "link",
                      "read",  "way/in.txt",  "read",  "secret/in.txt",     "write", temp_.path("data/in.txt").text(),
                      "write", "fixed/new",   "write", "harn.toml"};
  Words words = {"act.wasm", "read", "in.txt", "raw-read", "in.txt"};
  words.insert(words.end(), acts.begin(), acts.end());
  const auto ran = module({"--write", ".", "--read", temp_.path("data").text(), "--read", "fixed", "--deny", "secret"}, words);
  ASSERT_EQ(ran.exit_code, 42) << ran.err;
  EXPECT_NE(ran.out.find("read in.txt: ok\n"), std::string::npos) << ran.out;
  for (std::size_t i = 0; i < acts.size(); i += 2)
    EXPECT_EQ(ran.out.find(acts[i] + " " + acts[i + 1] + ": ok\n"), std::string::npos) << acts[i] << " " << acts[i + 1];
}

// Where a runtime offers more than WASI does, the sandbox around it still says no.
TEST_P(Modules, HaveNoNetworkWhateverTheirRuntimeOffers) {
  const bool offers = std::string(GetParam()) == "wasmedge";
  if (offers) {
    const auto bare = run_program({.argv = {"/bin/sh", "-c", "exec wasmedge socket.wasm"},
                                   .environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}},
                                   .cwd = temp_.path("p"),
                                   .scratch = temp_.path()});
    EXPECT_EQ(bare.exit_code, 0) << "without a sandbox: " << bare.out << bare.err;
  }
  const auto ran = module({}, {"socket.wasm"});
  EXPECT_NE(ran.exit_code, 0) << ran.out;
  if (offers) {
    EXPECT_EQ(ran.exit_code, 7) << ran.out << ran.err;
  }
  EXPECT_EQ(ran.out.find("socket: 0\n"), std::string::npos) << ran.out;
}

TEST_P(Modules, AnEndlessLoopEnds) {
  const auto timed = module({"--json", "--timeout", "1s"}, {"loop.wasm"});
  EXPECT_EQ(timed.exit_code, 124) << timed.err;
  EXPECT_NE(timed.out.find("\"timed_out\": true"), std::string::npos) << timed.out;
  const auto spent = module({"--json", "--cpu-seconds", "1"}, {"loop.wasm"});
  EXPECT_NE(spent.exit_code, 0);
  EXPECT_NE(spent.out.find("\"cpu_exceeded\": true"), std::string::npos) << spent.out;
}

TEST_P(Modules, AMemoryBombEnds) {
  const auto ran = module({"--json", "--memory", "256M", "--timeout", "60s"}, {"bomb.wasm"});
  EXPECT_NE(ran.exit_code, 0);
  EXPECT_NE(ran.out.find("\"oom_killed\": true"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("\"timed_out\": false"), std::string::npos) << ran.out;
}

TEST_P(Modules, NothingElseIsRun) {
  temp_.file("p/native.wasm", "#!/bin/sh\necho ran > escaped\n");
  fs::permissions(temp_.path("p/native.wasm").text(), fs::perms::owner_all);
  temp_.file("p/component.wasm", std::string_view("\0asm\x0d\0\x01\0rest", 12));
  temp_.file("p/broken.wasm", std::string_view("\0asm\x01\0\0\0rest", 12));
  EXPECT_EQ(module({}, {"native.wasm"}).exit_code, 126);
  const auto component = module({}, {"component.wasm"});
  EXPECT_EQ(component.exit_code, 126);
  EXPECT_NE(component.err.find("is a component"), std::string::npos) << component.err;
  EXPECT_EQ(module({}, {"absent.wasm"}).exit_code, 127);
  EXPECT_EQ(module({}, {"ls"}).exit_code, 125);
  EXPECT_EQ(module({}, {"/bin/sh", "-c", "echo x"}).exit_code, 125);
  EXPECT_NE(module({}, {"broken.wasm"}).exit_code, 0);
  EXPECT_EQ(module({"--no-sandbox"}, {"echo.wasm"}).exit_code, 125);
  environment_["HARN_HANDLER_SANDBOX"] = "off";
  EXPECT_EQ(module({}, {"native.wasm"}).exit_code, 126);
  environment_["HARN_PRETEND"] = "userns=no,landlock=no,seccomp=no,bubblewrap=no,firejail=no";
  const auto bare = module({}, {"echo.wasm"});
  EXPECT_EQ(bare.exit_code, 125) << "a runtime is no boundary by itself: " << bare.out;
  EXPECT_FALSE(fs::exists(temp_.path("p/escaped").text()));
}

TEST_P(Modules, AreRecordedAndReplayed) {
  const auto ran = module({"--record", "../t.tape"}, {"act.wasm", "read", "in.txt"});
  ASSERT_EQ(ran.exit_code, 42) << ran.err;
  const auto again = harn({"replay", "--profile", "wasi", "../t.tape", "--", "act.wasm", "read", "in.txt"});
  EXPECT_EQ(again.exit_code, 42) << again.err;
  EXPECT_EQ(again.out, ran.out);
  EXPECT_NE(harn({"replay", "--list", "../t.tape"}).out.find("wasi"), std::string::npos);
  EXPECT_EQ(harn({"test", "bench", "../t.tape"}).exit_code, 0);
}

}  // namespace
}  // namespace harn::test
