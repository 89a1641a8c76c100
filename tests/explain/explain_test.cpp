// SPDX-License-Identifier: Apache-2.0
// One row per refusal: what is told, and that doing what is told opens it. Whoever is let one step further may be
// refused the next; so flags are added until the command succeeds, and what was opened once is never told again.
#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "explain/explained.h"

namespace harn::test {
namespace {

struct Row {
  std::string_view name;
  std::string_view setup = {};
  std::string_view script = {};
  std::string_view access = {};  // any of these words
  std::string_view target = {};
  std::string_view remedy = {};  // exactly; empty = none is offered
  std::string_view rule = {};    // part of it
  std::string_view hint = {};    // part of it
  std::string_view flags = {};   // of the first run and of all others
  std::string_view policy = {};  // opens it where no flag does
  std::string_view undo = {};    // flags of the first run only
  std::string_view needs = {};   // a program
  bool view_only = false;
  bool bare_only = false;
  bool final = false;  // nothing opens it
};

constexpr std::string_view connect_to_service = R"(python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect("{O}/service")')";

constexpr Row rows[] = {
    // reading
    {"ReadsAFile", "echo hi > {O}/f", "cat {O}/f", "read", "{O}/f", "--read {O}/f"},
    {"ReadsByARelativePath", "echo hi > {O}/f", "cat ../out/f", "read", "{O}/f", "--read {O}/f"},
    {"ReadsInTheHome", "echo hi > {H}/notes", "cat {H}/notes", "read", "{H}/notes", "--read {H}/notes"},
    {"ReadsThroughALinkOfItsOwn", "echo hi > {O}/f; ln -s {O}/f link", "cat link", "read", "{O}/f", "--read {O}/f"},
    {"ReadsThroughARelativeLink", "echo hi > {O}/f; ln -s ../out/f link", "cat link", "read", "{O}/f", "--read {O}/f"},
    {"ReadsFarDown", "mkdir -p {O}/a/b; echo hi > {O}/a/b/c", "cat {O}/a/b/c", "read", "{O}/a/b/c", "--read {O}/a/b/c"},
    {"ReadsAnOddName", "echo hi > '{O}/a b'", "cat '{O}/a b'", "read", "{O}/a b", "--read '{O}/a b'"},
    {"ReadsASystemFile", "", "head -c1 /var/lib/dpkg/status", "read", "/var/lib/dpkg/status", "--read /var/lib/dpkg/status", "no grant"},
    {"SourcesAScript", "echo true > {O}/s", ". {O}/s", "read", "{O}/s", "--read {O}/s"},
    {"ReadsFromAShell", "echo hi > {O}/f", "read line < {O}/f", "read", "{O}/f", "--read {O}/f"},
    {"CopiesFromOutside", "echo hi > {O}/f", "cp {O}/f copy", "find read", "{O}/f", "--read {O}/f"},
    {.name = "ReadsFromPython",
     .setup = "echo hi > {O}/f",
     .script = "python3 -c 'open(\"{O}/f\").read()'",
     .access = "read",
     .target = "{O}/f",
     .remedy = "--read {O}/f",
     .needs = "python3"},
    {"ListsADirectory", "mkdir {O}/d", "ls {O}/d", "find read", "{O}/d", "--read {O}/d"},
    {"SearchesADirectory", "mkdir {O}/d; echo x > {O}/d/f", "grep -r x {O}/d", "find read", "{O}/d", "--read {O}/d"},
    {"FindsInADirectory", "mkdir {O}/d", "find {O}/d -name x", "find read", "{O}/d", "--read {O}/d"},
    {.name = "EntersADirectory",
     .setup = "mkdir {O}/d",
     .script = "cd {O}/d",
     .access = "find",
     .target = "{O}/d",
     .remedy = "--read {O}/d",
     .view_only = true},
    {.name = "AsksForAFile",
     .setup = "echo hi > {O}/f",
     .script = "test -e {O}/f",
     .access = "find",
     .target = "{O}/f",
     .remedy = "--read {O}/f",
     .view_only = true},
    {.name = "ReadsALinkOutside",
     .setup = "ln -s kept {O}/l",
     .script = "readlink {O}/l",
     .access = "find",
     .target = "{O}/l",
     .rule = "private",
     .view_only = true,
     .final = true},
    {.name = "ReadsWhatIsDenied",
     .setup = "mkdir secret; echo hi > secret/k",
     .script = "cat secret/k",
     .access = "read",
     .target = "{P}/secret/k",
     .rule = "read_deny_roots '{P}/secret'",
     .hint = "leave out --deny {P}/secret",
     .undo = "--deny {P}/secret"},
    {.name = "WritesWhatIsDenied",
     .setup = "mkdir secret; echo hi > secret/k",
     .script = "echo x > secret/k",
     .access = "write",
     .target = "{P}/secret/k",
     .hint = "leave out --deny {P}/secret",
     .undo = "--deny {P}/secret"},
    {.name = "ReadsACredential",
     .setup = "mkdir -p {H}/.ssh; echo key > {H}/.ssh/id_rsa",
     .script = "cat {H}/.ssh/id_rsa",
     .access = "read",
     .target = "{H}/.ssh/id_rsa",
     .rule = "credential",
     .hint = "process_sandbox.credentials = [\"{H}/.ssh\"]",
     .policy = "[process_sandbox]\ncredentials = [\"{H}/.ssh\"]\n"},
    {.name = "ReadsACredentialInAGrantedHome",
     .setup = "mkdir -p {H}/.aws; echo key > {H}/.aws/credentials",
     .script = "cat {H}/.aws/credentials",
     .access = "read",
     .target = "{H}/.aws/credentials",
     .rule = "credential",
     .hint = "no flag does",
     .flags = "--read {H}",
     .final = true},

    // writing
    {"WritesAFile", "echo hi > {O}/f", "echo x > {O}/f", "write", "{O}/f", "--write {P} --write {O}/f"},
    {"AppendsToAFile", "echo hi > {O}/f", "echo x >> {O}/f", "write", "{O}/f", "--write {P} --write {O}/f"},
    {"MakesAFile", "", "echo x > {O}/new", "create", "{O}/new", "--write {P} --write {O}"},
    {"MakesAFileBesideOthers", "mkdir {O}/d", "echo x > {O}/d/new", "create", "{O}/d/new", "--write {P} --write {O}/d"},
    {"MakesADirectory", "", "mkdir {O}/d", "create", "{O}/d", "--write {P} --write {O}"},
    {"MakesAPipe", "", "mkfifo {O}/p", "create", "{O}/p", "--write {P} --write {O}"},
    {"MakesALink", "", "ln -s x {O}/l", "create", "{O}/l", "--write {P} --write {O}"},
    {"RemovesAFile", "echo hi > {O}/f", "rm {O}/f", "find remove", "{O}/f", {}},
    {"RemovesADirectory", "mkdir {O}/d", "rmdir {O}/d", "remove", "{O}/d", "--write {P} --write {O}"},
    {"RenamesAFile", "echo hi > {O}/f", "mv {O}/f {O}/g", "find remove", "{O}/f", {}},
    {"MovesAFileIn", "echo hi > {O}/f", "mv {O}/f f", "find remove", "{O}/f", {}},
    {"MovesAFileOut", "echo hi > f", "mv f {O}/f", "create", "{O}/f", "--write {P} --write {O}"},
    {"LinksAFileOut", "echo hi > f", "ln f {O}/f || cp f {O}/f", "create", "{O}/f", "--write {P} --write {O}"},
    {"TouchesAFile", "echo hi > {O}/f", "touch {O}/f", "write change", "{O}/f", "--write {P} --write {O}/f"},
    {"EmptiesAFile", "echo hi > {O}/f", "truncate -s 0 {O}/f", "write", "{O}/f", "--write {P} --write {O}/f"},
    {.name = "ChangesAMode", .setup = "echo hi > {O}/f", .script = "chmod 600 {O}/f", .access = "find change", .target = "{O}/f"},
    {.name = "WritesToTheHome",
     .setup = "mkdir -p {H}/.config/harn",
     .script = "echo x > {H}/new",
     .access = "create",
     .target = "{H}/new",
     .remedy = "--write {P} --write {H}",
     .bare_only = true},
    {.name = "WritesWhatIsKeptReadOnly",
     .setup = "mkdir fixed; echo hi > fixed/f",
     .script = "echo x > fixed/f",
     .access = "write",
     .target = "{P}/fixed/f",
     .remedy = "--write {P} --write {P}/fixed/f",
     .rule = "read_only_roots '{P}/fixed'",
     .flags = "--read {P}/fixed"},
    {.name = "MakesAFileWhereItIsReadOnly",
     .setup = "mkdir fixed",
     .script = "echo x > fixed/new",
     .access = "create",
     .target = "{P}/fixed/new",
     .remedy = "--write {P} --write {P}/fixed",
     .rule = "read_only_roots",
     .flags = "--read {P}/fixed"},
    {.name = "RemovesWhereItIsReadOnly",
     .setup = "mkdir fixed; echo hi > fixed/f",
     .script = "rm -f fixed/f",
     .access = "remove",
     .target = "{P}/fixed/f",
     .remedy = "--write {P} --write {P}/fixed",
     .flags = "--read {P}/fixed"},
    {.name = "ChangesAModeWhereItIsReadOnly",
     .setup = "mkdir fixed; echo hi > fixed/f",
     .script = "chmod 600 fixed/f",
     .access = "change",
     .target = "{P}/fixed/f",
     .remedy = "--write {P} --write {P}/fixed/f",
     .flags = "--read {P}/fixed"},

    // protected names
    {"WritesGitConfig", "git init -q .", "echo '#' >> .git/config", "write", "{P}/.git/config", "--unprotect {P}/.git/config", "protected"},
    {"MakesAHook", "git init -q .", "echo x > .git/hooks/pre-commit", "create", "{P}/.git/hooks/pre-commit", "--unprotect {P}/.git/hooks"},
    {"WritesEditorSettings", "mkdir .vscode; echo > .vscode/s", "echo x > .vscode/s", "write", "{P}/.vscode/s", "--unprotect {P}/.vscode"},
    {"MakesAgentSettings", "mkdir .claude", "echo x > .claude/new", "create", "{P}/.claude/new", "--unprotect {P}/.claude"},
    {.name = "MakesAProtectedFile",
     .script = "echo x > .envrc",
     .access = "create",
     .target = "{P}/.envrc",
     .remedy = "--unprotect {P}/.envrc",
     .rule = "protected",
     .bare_only = true},
    {.name = "MakesAProtectedDirectory",
     .script = "mkdir .idea",
     .access = "create",
     .target = "{P}/.idea",
     .remedy = "--unprotect {P}/.idea",
     .bare_only = true},

    // programs
    {"RunsAProgram", "cp /bin/true {O}/prog", "{O}/prog", "run", "{O}/prog", "--read {O}/prog"},
    {"RunsAScript", "printf '#!/bin/sh\\nexit 0\\n' > {O}/s; chmod +x {O}/s", "{O}/s", "run", "{O}/s", "--read {O}/s"},
    {"RunsFromTheHome", "mkdir -p {H}/tools; cp /bin/true {H}/tools/t", "{H}/tools/t", "run", "{H}/tools/t", "--read {H}/tools/t"},
    {"RunsThroughALink", "cp /bin/true {O}/prog; ln -s {O}/prog tool", "./tool", "run", "{O}/prog", "--read {O}/prog"},
    {"ExecsAProgram", "cp /bin/true {O}/prog", "exec env {O}/prog", "run", "{O}/prog", "--read {O}/prog"},
    {"GivesAProgramToALoader", "cp /bin/true {O}/prog", "/lib64/ld-linux-x86-64.so.2 {O}/prog", "read", "{O}/prog", "--read {O}/prog"},

    // sockets and the network
    {.name = "OpensAnInternetSocket",
     .script = "python3 -c 'import socket; socket.socket()'",
     .access = "call",
     .target = "AF_INET SOCK_STREAM",
     .remedy = "--net allowed",
     .rule = "network is closed",
     .needs = "python3"},
    {.name = "OpensADatagramSocket",
     .script = "python3 -c 'import socket; socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)'",
     .access = "call",
     .target = "AF_INET6 SOCK_DGRAM",
     .remedy = "--net allowed",
     .needs = "python3"},
    {.name = "ConnectsToAServiceOfTheHost",
     .script = "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {PORT}))'",
     .access = "connect",
     .target = "127.0.0.1:{PORT}",
     .remedy = "--net allowed",
     .rule = "loopback of its own",
     .flags = "--loopback",
     .needs = "python3",
     .view_only = true},
    {.name = "ConnectsToAnAddress",
     .script = "python3 -c 'import socket; socket.create_connection((\"192.0.2.7\", 80), 1)'",
     .access = "connect",
     .target = "192.0.2.7:80",
     .remedy = "--net allowed",
     .flags = "--loopback",
     .needs = "python3",
     .view_only = true,
     .final = true},
    {.name = "ConnectsToAUnixSocket",
     .script = connect_to_service,
     .access = "connect",
     .target = "{O}/service",
     .rule = "unix_sockets",
     .hint = "process_sandbox.unix_sockets = [{ path = \"{O}/service\" }]",
     .policy = "[process_sandbox]\nunix_sockets = [{ path = \"{O}/service\" }]\n",
     .needs = "python3"},
    {.name = "ConnectsToAnAbstractSocket",
     .script = "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"\\0{ABSTRACT}\")'",
     .access = "connect",
     .target = "@{ABSTRACT}",
     .rule = "abstract",
     .needs = "python3",
     .final = true},

    // calls no policy opens
    {.name = "MakesANamespace",
     .script = "unshare -U true",
     .access = "call",
     .target = "unshare",
     .rule = "system call filter",
     .hint = "no policy",
     .needs = "unshare",
     .final = true},
    {.name = "SetsUpARing",
     .script = "python3 -c 'import ctypes; import sys; sys.exit(ctypes.CDLL(None).syscall(425, 8, 0) < 0)'",
     .access = "call",
     .target = "io_uring_setup",
     .hint = "no policy",
     .needs = "python3",
     .final = true},
    {.name = "Traces",
     .script = "python3 -c 'import ctypes; import sys; sys.exit(ctypes.CDLL(None).ptrace(0, 0, 0, 0) < 0)'",
     .access = "call",
     .target = "ptrace",
     .needs = "python3",
     .final = true},

    // limits
    {.name = "RunsTooLong",
     .script = "sleep 0.9",
     .access = "limit",
     .target = "wall_time",
     .remedy = "--timeout 1200ms",
     .rule = "limits.wall_time = 600ms",
     .undo = "--timeout 600ms"},
    {.name = "WritesTooMuch",
     .script = "exec head -c 1500000 /dev/zero > big",
     .access = "limit",
     .target = "max_file_size_mb",
     .remedy = "--file-size 2M",
     .undo = "--file-size 1M"},
    {.name = "TakesTooMuchMemory",
     .script = "python3 -c 'import time; x = bytearray(140 << 20); time.sleep(0.3)'",
     .access = "limit",
     .target = "max_memory_mb",
     .remedy = "--memory 192M",
     .undo = "--memory 96M",
     .needs = "python3"},
};

bool installed(std::string_view program) {
  for (const auto* directory : {"/usr/local/bin/", "/usr/bin/", "/bin/"})
    if (std::filesystem::exists(directory + std::string(program))) return true;
  return false;
}

class Explain : public testing::TestWithParam<std::tuple<Row, Stand>> {
 protected:
  const Row& row() const { return std::get<0>(GetParam()); }

  const Told* find(const Explained& ran) const {
    const auto target = setting_.fill(row().target);
    for (const auto& told : ran.denials)
      if (told.target == target && row().access.find(told.access) != std::string_view::npos) return &told;
    return nullptr;
  }

  void expect_told(const Told& told) const {
    if (!row().remedy.empty() || row().final || !row().hint.empty()) {
      EXPECT_EQ(told.remedy, row().final && row().remedy.empty() ? told.remedy : setting_.fill(row().remedy));
    }
    EXPECT_NE(told.rule.find(setting_.fill(row().rule)), std::string::npos) << told.rule;
    EXPECT_NE(told.hint.find(setting_.fill(row().hint)), std::string::npos) << told.hint;
    if (row().access != "limit") {
      EXPECT_FALSE(told.processes.empty());
    }
  }

  // Everything that is told, applied; and again while it gets further.
  void expect_opened(Explained ran) const {
    auto flags = words_of(setting_.fill(row().flags));
    if (!row().policy.empty()) {
      const auto file = setting_.person().file("policy.toml", setting_.fill(row().policy));
      flags.insert(flags.end(), {"--policy", file});
    }
    constexpr int steps = 4;
    std::vector<Told> opened;
    for (int i = 0; i < steps; ++i) {
      for (const auto& told : ran.denials) {
        for (const auto& known : opened) EXPECT_FALSE(known.same_access(told)) << told.access << " " << told.target << " was to be open";
        if (told.remedy.empty()) continue;
        opened.push_back(told);
        for (auto& word : words_of(told.remedy)) flags.push_back(std::move(word));
      }
      ran = setting_.run(flags, row().script);
      if (ran.exit_code == 0) return;
    }
    FAIL() << "it is still refused: " << ran.all;
  }

  const Explaining setting_{std::get<1>(GetParam())};
};

TEST_P(Explain, TheFlagThatIsToldOpensIt) {
  const bool bare = std::get<1>(GetParam()).tier == Tier::bare;
  if ((bare && row().view_only) || (!bare && row().bare_only)) GTEST_SKIP() << "not there";
  if (!row().needs.empty() && !installed(row().needs)) GTEST_SKIP() << row().needs << " is not installed";
  setting_.prepare(row().setup);
  auto flags = words_of(setting_.fill(row().flags));
  for (auto& word : words_of(setting_.fill(row().undo))) flags.push_back(std::move(word));
  const auto ran = setting_.run(flags, row().script);
  EXPECT_NE(ran.exit_code, 0) << ran.all;
  const auto* told = find(ran);
  ASSERT_NE(told, nullptr) << ran.all;
  expect_told(*told);
  if (!row().final) expect_opened(ran);
}

INSTANTIATE_TEST_SUITE_P(Rows, Explain, testing::Combine(testing::ValuesIn(rows), testing::ValuesIn(explain_stands())),
                         [](const auto& row) { return std::string(std::get<0>(row.param).name) + std::get<1>(row.param).name(); });

}  // namespace
}  // namespace harn::test
