// SPDX-License-Identifier: Apache-2.0
// harn as it is built for OpenBSD, run on the shim: what it plans is what a command meets. Every refusal stands beside
// something that must stay possible.
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include <gtest/gtest.h>

#include "support/temp_dir.h"
#include "usability/person.h"

namespace harn::test {
namespace {

// The first process of this machine may take its time to hear that somebody ended.
bool ends(const std::string& pid) {
  for (int i = 0; i < 600; ++i, ::usleep(50'000)) {
    const auto status = read_whole("/proc/" + std::to_string(std::stoi(pid)) + "/stat");
    if (status.empty() || status.find(") Z") != std::string::npos) return true;
  }
  return false;
}

class OpenBsd : public testing::TestWithParam<Who> {
 protected:
  OpenBsd() : person(GetParam()) {}

  Finished run(std::vector<std::string> options, std::vector<std::string> command) {
    std::vector<std::string> words = {"run", "--write", person.project()};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    return person.harn(words);
  }
  Finished sh(const std::string& script, std::vector<std::string> options = {}) {
    return run(std::move(options), {"/bin/sh", "-c", script});
  }
  Finished probe(std::vector<std::string> words, std::vector<std::string> options = {}) {
    const auto copy = person.project() + "/probe";
    if (!std::filesystem::exists(copy)) std::filesystem::copy_file(HARN_OPENBSD_PROBE, copy);
    words.insert(words.begin(), copy);
    return run(std::move(options), std::move(words));
  }

  Person person;
};

INSTANTIATE_TEST_SUITE_P(Everybody, OpenBsd, testing::ValuesIn(everybody()), testing::PrintToStringParamName());

TEST_P(OpenBsd, RunsACommandAndHandsOnItsEnd) {
  const auto ended = sh("echo hello; echo there >&2; exit 7");
  EXPECT_EQ(ended.exit_code, 7) << ended.err;
  EXPECT_EQ(ended.out, "hello\n");
  EXPECT_NE(ended.err.find("there\n"), std::string::npos);
}

// A limit that was lowered later does not close what was open before.
TEST_P(OpenBsd, NoDescriptorIsInheritedWhateverItsNumber) {
  person.start_through(
      {"/bin/bash", "-c", "exec 700<" + person.file("outside/secret", "secret\n") + "; ulimit -Sn 256; exec \"$@\"", "bash"});
  const auto ended = run({}, {"/bin/bash", "-c", "cat <&700; echo done"});
  EXPECT_EQ(ended.out, "done\n") << ended.err;
  EXPECT_NE(ended.err.find("700: Bad file descriptor"), std::string::npos) << ended.err;
}

TEST_P(OpenBsd, ReadsWhatIsOpenAndFindsNothingElse) {
  person.file("project/known", "known\n");
  const auto secret = person.file("other/secret", "secret\n");
  const auto ended = sh("cat known; cat " + secret);
  EXPECT_EQ(ended.out, "known\n") << ended.err;
  EXPECT_NE(ended.exit_code, 0);
  EXPECT_NE(ended.err.find("No such file"), std::string::npos) << ended.err;
}

TEST_P(OpenBsd, WritesOnlyInTheWorkspace) {
  const auto docs = person.file("docs/page", "page\n");
  const auto ended = sh("echo new > made && cat made; echo changed > " + docs, {"--read", person.root() + "/docs"});
  EXPECT_EQ(ended.out, "new\n") << ended.err;
  EXPECT_NE(ended.exit_code, 0);
  EXPECT_EQ(read_whole(docs), "page\n");
  EXPECT_EQ(read_whole(person.project() + "/made"), "new\n");
}

TEST_P(OpenBsd, AReadOnlyRootInsideTheWorkspaceStaysReadOnly) {
  person.file("project/docs/page", "page\n");
  const auto ended = sh("cat docs/page; echo changed > docs/page", {"--read", person.project() + "/docs"});
  EXPECT_EQ(ended.out, "page\n") << ended.err;
  EXPECT_EQ(read_whole(person.project() + "/docs/page"), "page\n");
}

TEST_P(OpenBsd, WhatIsDeniedInsideTheWorkspaceIsNotThere) {
  person.file("project/private/key", "key\n");
  const auto ended = sh("cat private/key", {"--deny", person.project() + "/private"});
  EXPECT_NE(ended.exit_code, 0);
  EXPECT_EQ(ended.out, "");
}

TEST_P(OpenBsd, OnlyWhatIsOpenIsExecuted) {
  const auto tool = person.file("other/tool", "#!/bin/sh\necho ran\n");
  std::filesystem::permissions(tool, std::filesystem::perms(0755));
  const auto ended = run({}, {tool});
  EXPECT_EQ(ended.exit_code, 127);
  EXPECT_EQ(ended.out, "");
  EXPECT_NE(ended.err.find("was not found"), std::string::npos) << ended.err;
  EXPECT_EQ(run({"--read", person.root() + "/other"}, {tool}).out, "ran\n");
}

TEST_P(OpenBsd, TheNetworkIsRefusedByNameAndOpensWithThePromise) {
  const auto closed = probe({"inet", "inet6", "unix"});
  EXPECT_EQ(closed.out, "inet ENOSYS\ninet6 ENOSYS\nunix ENOSYS\n") << closed.err;
  EXPECT_EQ(probe({"inet", "inet6"}, {"--net", "allowed"}).out, "inet ok\ninet6 ok\n");
}

TEST_P(OpenBsd, ACommandCannotWidenWhatItWasGiven) {
  const auto secret = person.file("other/secret", "secret\n");
  const auto said = probe({"unveil", "/", "rwxc", "lock", "pledge", "stdio rpath wpath inet unix error", "inet", "read", secret});
  EXPECT_EQ(said.out, "unveil EPERM\nlock EPERM\npledge ok\ninet ENOSYS\nread ENOENT\n") << said.err;
}

TEST_P(OpenBsd, NamedHostsAreRefusedBeforeAnythingRuns) {
  const auto ended = sh("echo ran", {"--net", "restricted", "--allow-host", "example.org"});
  EXPECT_EQ(ended.exit_code, 125);
  EXPECT_EQ(ended.out, "");
}

TEST_P(OpenBsd, NothingRunsWhenACallFails) {
  // In the child of this command alone: what is tried beforehand works.
  for (const auto* call : {"unveil", "lock", "pledge"}) {
    person.environment()["HARN_SHIM_FAIL"] = std::string(call) + ":" + person.project();
    const auto ended = sh("echo ran > ran; echo ran");
    EXPECT_EQ(ended.exit_code, 125) << call;
    EXPECT_EQ(ended.out, "") << call;
    EXPECT_NE(ended.err.find("the command did not run"), std::string::npos) << ended.err;
    EXPECT_FALSE(std::filesystem::exists(person.project() + "/ran")) << call;
  }
  person.environment().erase("HARN_SHIM_FAIL");
  EXPECT_EQ(sh("echo ran").out, "ran\n");
}

TEST_P(OpenBsd, WhereNothingConfinesNothingIsSaidToBeConfined) {
  for (const auto* call : {"unveil", "lock", "pledge"}) {
    person.environment()["HARN_SHIM_FAIL"] = call;
    person.environment()["HARN_HANDLER_SANDBOX"] = "enforce";
    const auto refused = sh("echo ran");
    EXPECT_EQ(refused.exit_code, 125) << call << refused.err;
    EXPECT_EQ(refused.out, "") << call;
    person.environment()["HARN_HANDLER_SANDBOX"] = "warn";
    const auto warned = sh("echo ran");
    EXPECT_EQ(warned.out, "ran\n") << call;
    EXPECT_NE(warned.err.find("nothing confines this command"), std::string::npos) << warned.err;
  }
}

TEST_P(OpenBsd, WhatIsNotFoundAndWhatIsNoProgramAreToldApart) {
  EXPECT_EQ(run({}, {"no-such-program"}).exit_code, 127);
  person.file("project/data", "data\n");
  EXPECT_EQ(run({}, {"./data"}).exit_code, 126);
}

TEST_P(OpenBsd, TimeEndsTheWholeTree) {
  const auto ended = sh("trap '' TERM; (sleep 1000 & echo $! > pid; sleep 1000)", {"--timeout", "1s"});
  EXPECT_EQ(ended.exit_code, 124) << ended.err;
  EXPECT_TRUE(ends(read_whole(person.project() + "/pid")));
}

TEST_P(OpenBsd, WhatACommandLeavesBehindIsEnded) {
  const auto ended = sh("set -m; sleep 1000 & echo $! > pid; sleep 0.3");
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_TRUE(ends(read_whole(person.project() + "/pid")));
}

TEST_P(OpenBsd, TheCommandEndsWithHarn) {
  const auto pid = person.start({"run", "--", "/bin/sh", "-c", "echo $$ > pid; exec sleep 1000"});
  std::string text;
  for (int i = 0; i < 600 && text.empty(); ++i, ::usleep(50'000)) text = read_whole(person.project() + "/pid");
  ASSERT_NE(text, "");
  // setpriv executes harn, so that this is harn itself.
  ASSERT_EQ(::kill(pid, SIGKILL), 0);
  ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
  EXPECT_TRUE(ends(text));
}

TEST_P(OpenBsd, LimitsAreKept) {
  EXPECT_EQ(sh("head -c 3000000 /dev/zero > big", {"--file-size", "1M"}).exit_code, 128 + SIGXFSZ);
  const auto spent = sh("while :; do :; done", {"--cpu-seconds", "1"});
  EXPECT_EQ(spent.exit_code, 128 + SIGXCPU) << spent.err;
  const auto cut = sh("head -c 100000 /dev/zero | tr '\\0' x", {"--output-limit", "1000"});
  EXPECT_EQ(cut.out.size(), 1000u);
}

TEST_P(OpenBsd, TheReceiptSaysWhatWasProvedAndWhatIsMissing) {
  const auto receipt = person.root() + "/home/receipt.json";
  const auto ended = sh("true", {"--receipt", receipt});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const auto text = read_whole(receipt);
  for (const auto* part :
       {R"("backend": "openbsd")", R"("unveil")", R"("pledge")", R"("proof": "proved")", "signals_outside", "outlives_run"})
    EXPECT_NE(text.find(part), std::string::npos) << part << text;
}

TEST_P(OpenBsd, AStrictProfileRefusesBecauseOfItsHoles) {
  const auto ended = sh("echo ran", {"--profile", "os_hardened"});
  EXPECT_EQ(ended.exit_code, 125);
  EXPECT_EQ(ended.out, "");
  EXPECT_NE(ended.err.find("signals"), std::string::npos) << ended.err;
}

TEST_P(OpenBsd, TheDoctorTriesBothCalls) {
  const auto said = person.harn({"doctor"});
  EXPECT_EQ(said.exit_code, 0) << said.out << said.err;
  EXPECT_NE(said.out.find("unveil"), std::string::npos) << said.out;
  EXPECT_NE(said.out.find("pledge"), std::string::npos) << said.out;
  person.environment()["HARN_SHIM_FAIL"] = "pledge";
  EXPECT_NE(person.harn({"doctor"}).exit_code, 0);
}

TEST_P(OpenBsd, WhatOnlyLinuxHasIsRefusedByName) {
  const auto said = person.harn({"session", "list"});
  EXPECT_NE(said.exit_code, 0);
  EXPECT_NE(said.err.find("works on Linux only"), std::string::npos) << said.err;
}

}  // namespace
}  // namespace harn::test
