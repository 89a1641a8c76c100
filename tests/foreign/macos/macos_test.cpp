// SPDX-License-Identifier: Apache-2.0
// harn as it is built for macOS, with a stand-in for sandbox-exec that enforces the profile by our reading of it: what is
// planned is what a command meets. Every refusal stands beside something that must stay possible.
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include <gtest/gtest.h>

#include "support/temp_dir.h"
#include "usability/person.h"

namespace harn::test {
namespace {

// On macOS /tmp and /var are links into /private, and a path there has both names; on Linux they are not. So the ground of
// these tests is elsewhere.
const bool elsewhere = ::setenv("TMPDIR", "/dev/shm", 1) == 0;

class MacOs : public testing::TestWithParam<Who> {
 protected:
  MacOs() : person(GetParam()) {
    EXPECT_TRUE(elsewhere);
    const auto copy = person.root() + "/sandbox-exec";
    std::filesystem::copy_file(HARN_SANDBOX_EXEC, copy);
    person.environment()["HARN_STANDIN"] = copy;
  }

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
  std::string script(const std::string& name, const std::string& text) {
    const auto path = person.file(name, "#!/bin/sh\n" + text);
    std::filesystem::permissions(path, std::filesystem::perms(0755));
    return path;
  }

  Person person;
};

INSTANTIATE_TEST_SUITE_P(Everybody, MacOs, testing::ValuesIn(everybody()), testing::PrintToStringParamName());

TEST_P(MacOs, RunsACommandAndHandsOnItsEnd) {
  const auto ended = sh("echo hello; echo there >&2; exit 7");
  EXPECT_EQ(ended.exit_code, 7) << ended.err;
  EXPECT_EQ(ended.out, "hello\n");
  EXPECT_NE(ended.err.find("there\n"), std::string::npos);
  EXPECT_EQ(sh("kill -9 $$").exit_code, 128 + SIGKILL);
}

TEST_P(MacOs, ReadsWhatIsOpenAndIsRefusedTheRest) {
  person.file("project/known", "known\n");
  const auto secret = person.file("other/secret", "secret\n");
  const auto ended = sh("cat known; cat " + secret);
  EXPECT_EQ(ended.out, "known\n") << ended.err;
  EXPECT_NE(ended.exit_code, 0);
  EXPECT_NE(ended.err.find("Operation not permitted"), std::string::npos) << ended.err;
}

TEST_P(MacOs, CredentialsStayClosedWhateverIsOpen) {
  person.file("home/.ssh/id_ed25519", "key\n");
  person.file("home/notes", "notes\n");
  const auto ended = sh("cat " + person.home() + "/notes; cat " + person.home() + "/.ssh/id_ed25519", {"--read", person.home()});
  EXPECT_EQ(ended.out, "notes\n") << ended.err;
}

TEST_P(MacOs, WritesOnlyInTheWorkspace) {
  const auto docs = person.file("docs/page", "page\n");
  const auto ended =
      sh("echo new > made && cat made && mkdir d && mv made d && rm -r d; echo changed > " + docs, {"--read", person.root() + "/docs"});
  EXPECT_EQ(ended.out, "new\n") << ended.err;
  EXPECT_NE(ended.exit_code, 0);
  EXPECT_EQ(read_whole(docs), "page\n");
}

TEST_P(MacOs, ALinkLeadsNowhereElse) {
  const auto secret = person.file("other/secret", "secret\n");
  const auto ended = sh("ln -s " + secret + " link; cat link; echo x > link");
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(read_whole(secret), "secret\n");
}

TEST_P(MacOs, AReadOnlyRootInsideTheWorkspaceStaysReadOnly) {
  person.file("project/docs/page", "page\n");
  const auto ended = sh("cat docs/page; echo changed > docs/page; mv docs away", {"--read", person.project() + "/docs"});
  EXPECT_EQ(ended.out, "page\n") << ended.err;
  EXPECT_EQ(read_whole(person.project() + "/docs/page"), "page\n");
}

TEST_P(MacOs, ProtectedNamesCannotBeMadeInAnySpelling) {
  for (const auto* name : {"harn.toml", "HARN.toml", ".envrc", ".mcp.json"})
    EXPECT_NE(sh(std::string("echo x > ") + name).exit_code, 0) << name;
  EXPECT_EQ(sh("echo x > ordinary").exit_code, 0);
}

TEST_P(MacOs, TheNetworkIsRefusedByName) {
  const auto python = std::string(
      "import socket,sys\ns=socket.socket()\ns.settimeout(2)\ntry:\n s.connect((sys.argv[1],1))\nexcept OSError as e: "
      "print(type(e).__name__)\n");
  person.file("project/connect.py", python);
  EXPECT_EQ(run({}, {"/usr/bin/python3", "connect.py", "127.0.0.1"}).out, "PermissionError\n");
  EXPECT_EQ(run({"--loopback"}, {"/usr/bin/python3", "connect.py", "127.0.0.1"}).out, "ConnectionRefusedError\n");
}

// A web server of this machine, as the host somebody names.
class Server {
 public:
  explicit Server(const Person& person) {
    pid_ = person.start_program({"/usr/bin/python3", "-u", "-c",
                                 "import http.server,sys\n"
                                 "class H(http.server.BaseHTTPRequestHandler):\n"
                                 " def do_GET(self):\n"
                                 "  self.send_response(200); self.end_headers(); self.wfile.write(b'served\\n')\n"
                                 " def log_message(self, *a): pass\n"
                                 "s=http.server.HTTPServer(('127.0.0.1',0),H); print(s.server_port); s.serve_forever()"},
                                {.out = said_.writer.get()});
    char text[16] = {};
    if (::read(said_.reader.get(), text, sizeof text - 1) > 0) port = std::to_string(std::atoi(text));
  }
  ~Server() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::string port = {};

 private:
  Pipe said_ = {};
  pid_t pid_ = -1;
};

TEST_P(MacOs, NamedHostsAreReachedThroughTheRelayAndNoOthers) {
  const Server server(person);
  const Server other(person);
  ASSERT_NE(server.port, "");
  const std::vector<std::string> options = {"--net", "restricted", "--allow-host", "127.0.0.1:" + server.port};
  const auto curl = [&](const std::string& words) { return sh("curl -s -S --max-time 20 " + words, options); };
  const auto url = " http://127.0.0.1:" + server.port + "/";
  const auto socks = curl("--noproxy ''" + url);
  EXPECT_EQ(socks.out, "served\n") << socks.err;
  const auto connect = curl("--noproxy '' --proxytunnel -x $HTTPS_PROXY" + url);
  EXPECT_EQ(connect.out, "served\n") << connect.err;
  // The relay is of this command: who does not know its password is not served, in neither language.
  const auto stranger = curl("--noproxy '' --proxytunnel -x \"http://${HTTPS_PROXY#*@}\"" + url);
  EXPECT_NE(stranger.exit_code, 0);
  EXPECT_EQ(stranger.out, "");
  const auto guess = curl("--noproxy '' --proxytunnel -x \"http://harn:guess@${HTTPS_PROXY#*@}\"" + url);
  EXPECT_EQ(guess.out, "");
  EXPECT_EQ(curl("--noproxy '' -x \"socks5h://${ALL_PROXY#*@}\"" + url).out, "");
  EXPECT_EQ(curl("--noproxy '' -x \"socks5h://harn:guess@${ALL_PROXY#*@}\"" + url).out, "");
  EXPECT_EQ(curl("--noproxy '' -x \"$ALL_PROXY\"" + url).out, "served\n");
  // Past the relay there is nothing, not even the host that is allowed.
  const auto past = curl("--noproxy '*'" + url);
  EXPECT_NE(past.exit_code, 0);
  EXPECT_EQ(past.out, "");
  const auto refused = curl("--noproxy '' http://127.0.0.1:" + other.port + "/");
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_EQ(refused.out, "");
  EXPECT_NE(refused.err.find("harn: refused: connect"), std::string::npos) << refused.err;
}

// The word that stands for the relay's port until it is known may stand in a path as well; that path stays what it is.
TEST_P(MacOs, APathWithThePortsWordStaysDenied) {
  const auto secret = person.file("project/@run:relay_port/secret", "secret\n");
  const std::vector<std::string> options = {
      "--net", "restricted",          "--allow-host", "example.org", "--deny", person.project() + "/@run:relay_port",
      "--env", "WORD=@run:relay_port"};
  const auto ended = sh("cat '" + secret + "'; echo \"$WORD\"", options);
  EXPECT_EQ(ended.out, "@run:relay_port\n") << ended.err;
  EXPECT_EQ(sh("cat '" + secret + "'").out, "secret\n");
}

TEST_P(MacOs, TheOutcomeSaysWhoWasReached) {
  const Server server(person);
  const auto ended = sh("curl -s --noproxy '' http://127.0.0.1:" + server.port + "/",
                        {"--json", "--net", "restricted", "--allow-host", "127.0.0.1:" + server.port});
  EXPECT_NE(ended.out.find(R"("contacted")"), std::string::npos) << ended.out << ended.err;
  EXPECT_NE(ended.out.find("\"port\": " + server.port), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find(R"("relay")"), std::string::npos) << ended.out;
}

TEST_P(MacOs, NoProcessOutsideIsSignalled) {
  const auto ended = sh("sleep 100 & kill $! && echo own; kill -0 " + std::to_string(::getpid()) + " && echo foreign");
  EXPECT_EQ(ended.out, "own\n") << ended.err;
}

TEST_P(MacOs, AMissingProgramIsMissingHereToo) {
  const auto missing = run({}, {"no-such-program"});
  EXPECT_EQ(missing.exit_code, 127);
  EXPECT_EQ(missing.err.find("execvp"), std::string::npos) << missing.err;
  person.file("project/data", "data\n");
  EXPECT_EQ(run({}, {"./data"}).exit_code, 126);
}

TEST_P(MacOs, AProgramThatIsClosedIsNotExecuted) {
  const auto tool = script("other/tool", "echo ran\n");
  const auto ended = run({}, {tool});
  EXPECT_EQ(ended.exit_code, 126) << ended.err;
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(run({"--read", person.root() + "/other"}, {tool}).out, "ran\n");
}

TEST_P(MacOs, ExitCodesOfSandboxExecMayBeTheCommandsOwn) {
  EXPECT_EQ(sh("exit 71").exit_code, 71);
  EXPECT_EQ(sh("exit 65").exit_code, 65);
}

// What a command did to its own files afterwards says nothing about whether it ran.
TEST_P(MacOs, NoCommandCanSayThatItNeverRan) {
  const auto evil = script("project/evil", "rm -f \"$0\"; echo ran; exit 71\n");
  auto ended = run({}, {evil});
  EXPECT_EQ(ended.exit_code, 71) << ended.err;
  EXPECT_EQ(ended.out, "ran\n");
  std::filesystem::create_directory(person.project() + "/gone");
  std::filesystem::permissions(person.project() + "/gone", std::filesystem::perms(0777));
  ended = sh("rmdir \"$PWD\"; echo ran; exit 65", {"--cwd", person.project() + "/gone"});
  EXPECT_EQ(ended.exit_code, 65) << ended.err;
  EXPECT_EQ(ended.out, "ran\n");
}

// A limit that was lowered later does not close what was open before.
TEST_P(MacOs, NoDescriptorIsInheritedWhateverItsNumber) {
  person.start_through(
      {"/bin/bash", "-c", "exec 700<" + person.file("outside/secret", "secret\n") + "; ulimit -Sn 256; exec \"$@\"", "bash"});
  const auto ended = run({}, {"/bin/bash", "-c", "cat <&700; echo done"});
  EXPECT_EQ(ended.out, "done\n") << ended.err;
  EXPECT_NE(ended.err.find("700: Bad file descriptor"), std::string::npos) << ended.err;
}

TEST_P(MacOs, SwiftGetsItsOptions) {
  script("project/bin/swift", "echo \"$@\"\n");
  person.environment()["PATH"] = person.project() + "/bin:/usr/bin:/bin";
  const auto ended = run({}, {"swift", "build", "-v"});
  EXPECT_EQ(
      ended.out,
      "build --disable-sandbox --manifest-cache local --cache-path .build/harn/swiftpm/cache --config-path .build/harn/swiftpm/config "
      "--security-path .build/harn/swiftpm/security -v\n")
      << ended.err;
}

TEST_P(MacOs, ALongProfileTravelsAsAFile) {
  std::vector<std::string> options;
  for (int i = 0; i < 700; ++i) {
    const auto name = "roots/" + std::string(60, 'd') + std::to_string(i);
    person.file(name + "/file", "text\n");
    options.insert(options.end(), {"--read", person.root() + "/" + name});
  }
  const auto last = options.back() + "/file";
  const auto ended = sh("cat " + last, options);
  EXPECT_EQ(ended.out, "text\n") << ended.err;
  EXPECT_NE(sh("cat " + person.file("other/secret", "secret\n"), options).exit_code, 0);
}

TEST_P(MacOs, TimeEndsTheWholeTree) {
  const auto ended = sh("trap '' TERM; (sleep 1000 & echo $! > pid; sleep 1000)", {"--timeout", "1s"});
  EXPECT_EQ(ended.exit_code, 124) << ended.err;
}

TEST_P(MacOs, TheReceiptClaimsNothingThatWasNotTried) {
  const auto receipt = person.root() + "/home/receipt.json";
  const auto ended = sh("true", {"--receipt", receipt});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const auto text = read_whole(receipt);
  EXPECT_NE(text.find(R"("backend": "macos")"), std::string::npos) << text;
  EXPECT_NE(text.find("mach_services_open"), std::string::npos) << text;
  EXPECT_EQ(text.find(R"("proof": "proved")"), std::string::npos) << text;
}

TEST_P(MacOs, WithoutSandboxExecNothingIsSaidToBeConfined) {
  person.environment()["HARN_PRETEND"] = "sandbox-exec=no";
  person.environment()["HARN_HANDLER_SANDBOX"] = "enforce";
  EXPECT_EQ(sh("echo ran").exit_code, 125);
  EXPECT_EQ(sh("echo ran", {"--profile", "os_hardened"}).exit_code, 125);
  person.environment()["HARN_HANDLER_SANDBOX"] = "warn";
  EXPECT_NE(sh("echo ran").err.find("nothing confines this command"), std::string::npos);
}

TEST_P(MacOs, TheDoctorTriesTheProgram) {
  const auto said = person.harn({"doctor"});
  EXPECT_EQ(said.exit_code, 0) << said.out << said.err;
  EXPECT_NE(said.out.find("sandbox-exec"), std::string::npos) << said.out;
}

}  // namespace
}  // namespace harn::test
