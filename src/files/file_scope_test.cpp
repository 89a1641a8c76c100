// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "harn/files.h"
#include "harn/probe.h"
#include "harn/scope.h"
#include "support/temp_dir.h"

namespace harn {
namespace {

using test::TempDir;

std::string text_of(const AbsPath& path) {
  std::ostringstream out;
  out << std::ifstream(path.text(), std::ios::binary).rdbuf();
  return out.str();
}

struct Stand {
  TempDir temp = {};
  Policy policy = {};

  Stand() {
    temp.directory("w");
    temp.file("outside/secret", "secret");
    policy.workspace_roots = {temp.path("w")};
  }

  FileScope scope() const {
    auto facts = probe_host({.environment = {{"HOME", temp.path("home").text()}, {"PATH", "/usr/bin"}}, .cwd = temp.path("w")});
    (void)look_at_paths(facts, policy);
    return *FileScope::open(policy, facts);
  }
  std::string path(std::string_view relative) const { return temp.path(relative).text(); }
  std::string outside_text(std::string_view operation, std::string_view verb, std::string_view relative) const {
    return fmt::format("sandbox violation: '{}' attempted to {} '{}' outside workspace_roots [{}]", operation, verb, path(relative),
                       path("w"));
  }
};

TEST(FileScope, WorksInsideTheWorkspace) {
  const Stand stand;
  const auto files = stand.scope();
  ASSERT_TRUE(files.write_text("new/deep/a.txt", std::string("a\0\xff", 3)));
  EXPECT_EQ(files.read_text(stand.path("w/new/deep/a.txt")), std::string("a\0\xff", 3));
  EXPECT_EQ(files.exists("new/deep"), true);
  EXPECT_EQ(files.exists("new/none"), false);
  stand.temp.link("w/new/link", "deep");
  EXPECT_EQ(files.list("new"), (std::vector<FileEntry>{{"deep", EntryKind::directory}, {"link", EntryKind::link}}));
  EXPECT_EQ(files.list("new/link"), (std::vector<FileEntry>{{"a.txt", EntryKind::file}}));
  EXPECT_EQ(files.remove("new").error().os_error, ENOTEMPTY);
  EXPECT_TRUE(files.remove("new/link"));
  EXPECT_EQ(files.exists("new/deep/a.txt"), true);
  EXPECT_TRUE(files.remove_tree("new"));
  EXPECT_EQ(files.exists("new"), false);
  EXPECT_EQ(files.remove("new").error().os_error, ENOENT);
  EXPECT_EQ(files.read_text("new").error().os_error, ENOENT);
}

TEST(FileScope, TheExactWordsOfAViolation) {
  const Stand stand;
  const auto files = stand.scope();
  const auto secret = stand.path("outside/secret");
  EXPECT_EQ(files.read_text(secret).error().message, stand.outside_text("read_text", "read", "outside/secret"));
  EXPECT_EQ(files.list(stand.path("outside")).error().message, stand.outside_text("list", "read", "outside"));
  EXPECT_EQ(files.exists("../outside/none").error().message, stand.outside_text("exists", "read", "outside/none"));
  EXPECT_EQ(files.write_text(secret, "x").error().message, stand.outside_text("write_text", "write", "outside/secret"));
  EXPECT_EQ(files.remove(secret).error().message, stand.outside_text("delete", "delete", "outside/secret"));
  EXPECT_EQ(files.remove_tree(stand.path("outside")).error().message, stand.outside_text("delete", "delete", "outside"));
  EXPECT_EQ(files.read_text(secret).error().code, ErrorCode::refused);
  EXPECT_EQ(category_of(files.read_text(secret).error()), "tool_rejected");
  EXPECT_EQ(text_of(stand.temp.path("outside/secret")), "secret");
}

TEST(FileScope, AReadOnlyRootIsOnlyRead) {
  Stand stand;
  stand.temp.file("lib/f", "f");
  stand.policy.read_only_roots = {stand.temp.path("lib"), stand.temp.path("w/vendor")};
  stand.temp.file("w/vendor/v", "v");
  const auto files = stand.scope();
  EXPECT_EQ(files.read_text(stand.path("lib/f")), "f");
  for (const auto* path : {"lib/f", "lib/new", "w/vendor/v", "w/vendor/new"}) {
    const auto expected = [&](std::string_view operation, std::string_view verb) {
      return fmt::format("sandbox violation: '{}' attempted to {} '{}' under a read-only workspace root", operation, verb,
                         stand.path(path));
    };
    EXPECT_EQ(files.write_text(stand.path(path), "x").error().message, expected("write_text", "write"));
    EXPECT_EQ(files.remove(stand.path(path)).error().message, expected("delete", "delete"));
  }
  EXPECT_EQ(files.remove_tree("vendor").error().code, ErrorCode::refused);
  EXPECT_EQ(text_of(stand.temp.path("w/vendor/v")), "v");
}

TEST(FileScope, LinksLeadOnlyWhereTheirTargetIsGranted) {
  Stand stand;
  stand.temp.file("lib/f", "f");
  stand.policy.read_only_roots = {stand.temp.path("lib")};
  stand.temp.link("w/out", "../outside");
  stand.temp.link("w/out-file", stand.path("outside/secret"));
  stand.temp.link("w/new-outside", stand.path("outside/new"));
  stand.temp.link("w/lib", stand.path("lib"));
  stand.temp.link("w/proc", "/proc/self/root");
  const auto files = stand.scope();
  EXPECT_EQ(files.read_text("lib/f"), "f");
  for (const auto* path : {"out/secret", "out-file", "lib/../outside/secret"})
    EXPECT_EQ(files.read_text(path).error().message, stand.outside_text("read_text", "read", "outside/secret")) << path;
  EXPECT_EQ(files.write_text("new-outside", "x").error().message, stand.outside_text("write_text", "write", "outside/new"));
  EXPECT_EQ(files.write_text("out/new/deeper", "x").error().message, stand.outside_text("write_text", "write", "outside/new/deeper"));
  EXPECT_EQ(files.read_text("proc" + stand.path("outside/secret")).error().code, ErrorCode::refused);
  // A link of the workspace is the workspace's; removing it leaves what it leads to.
  EXPECT_TRUE(files.remove_tree("out"));
  EXPECT_EQ(text_of(stand.temp.path("outside/secret")), "secret");
  EXPECT_FALSE(std::filesystem::exists(stand.path("outside/new")));
}

TEST(FileScope, DenialsCredentialsAndProtectedNamesStayClosed) {
  Stand stand;
  stand.temp.file("w/private/key", "k");
  stand.temp.file("w/.git/config", "c");
  stand.policy.process_sandbox.read_deny_roots = {stand.temp.path("w/private")};
  stand.policy.process_sandbox.read_roots = {stand.temp.path("outside")};
  const auto files = stand.scope();
  EXPECT_EQ(files.read_text("private/key").error().code, ErrorCode::refused);
  EXPECT_EQ(files.remove_tree("private").error().code, ErrorCode::refused);
  // What only processes were given.
  EXPECT_EQ(files.read_text(stand.path("outside/secret")).error().message, stand.outside_text("read_text", "read", "outside/secret"));
  for (const auto* path : {"harn.toml", ".git/config", ".git/hooks/pre-commit", ".vscode/settings.json", ".envrc"})
    EXPECT_EQ(files.write_text(path, "x").error().code, ErrorCode::refused) << path;
  EXPECT_EQ(files.read_text(".git/config"), "c");
  EXPECT_EQ(files.remove_tree(".git").error().code, ErrorCode::refused);
  EXPECT_TRUE(files.write_text(".git/HEAD", "ref: refs/heads/main\n"));
}

// Git outside runs what a repository's hooks and configuration name, and `gitdir: elsewhere` in a file
// named .git makes any directory one.
TEST(FileScope, NoRepositoryIsMadeOrRedirected) {
  const Stand stand;
  stand.temp.file("w/tree/.git", "gitdir: ../main\n");
  const auto files = stand.scope();
  for (const auto* path : {".git", "sub/.git", "sub/.git/config", "sub/.git/hooks/post-checkout", "tree/.git"})
    EXPECT_EQ(files.write_text(path, "gitdir: x\n").error().code, ErrorCode::refused) << path;
  EXPECT_EQ(files.remove("tree/.git").error().code, ErrorCode::refused);
  EXPECT_EQ(files.list("."), (std::vector<FileEntry>{{"tree", EntryKind::directory}}));
  EXPECT_TRUE(files.write_text(".gitignore", "build\n"));
  // Made since then, where nothing was known of it.
  for (const auto* directory : {"w/.git/hooks", "w/.git/modules/a/b", "w/.git/worktrees/t", "w/deep/er/.git"})
    stand.temp.directory(directory);
  for (const auto* path : {".git/config", ".git/hooks/pre-commit", ".git/modules/a/b/config", ".git/modules/a/b/hooks/x",
                           ".git/worktrees/t/commondir", ".git/worktrees/t/gitdir", "deep/er/.git/config"})
    EXPECT_EQ(files.write_text(path, "x").error().code, ErrorCode::refused) << path;
  EXPECT_TRUE(files.write_text(".git/HEAD", "ref: refs/heads/main\n"));
}

TEST(FileScope, RootsAreNotRemoved) {
  const Stand stand;
  const auto files = stand.scope();
  EXPECT_EQ(files.remove(".").error().code, ErrorCode::refused);
  EXPECT_EQ(files.remove_tree(stand.path("w")).error().code, ErrorCode::refused);
}

TEST(FileScope, NeedsTheCapabilityAndTheLevel) {
  Stand stand;
  stand.temp.file("w/f", "f");
  stand.policy.capabilities = Capabilities{.workspace = {WorkspaceOp::read_text}};
  const auto reader = stand.scope();
  EXPECT_EQ(reader.read_text("f"), "f");
  EXPECT_EQ(reader.exists("f"), true);
  EXPECT_EQ(reader.list(".").error().message, "sandbox violation: 'list' exceeds the capabilities: workspace lacks 'list'");
  EXPECT_EQ(reader.write_text("/dev/null", "x").error().code, ErrorCode::refused);
  stand.policy.capabilities.reset();
  stand.policy.side_effect_level = SideEffectLevel::read_only;
  EXPECT_EQ(stand.scope().write_text("f", "x").error().message,
            "sandbox violation: 'write_text' exceeds the side effects allowed: side_effect_level is 'read_only'");
  stand.policy.side_effect_level = SideEffectLevel::none;
  EXPECT_EQ(stand.scope().read_text("f").error().code, ErrorCode::refused);
}

TEST(FileScope, AnUnrestrictedProfileHasNoScopeButKeepsTheCapabilities) {
  Stand stand;
  stand.policy.sandbox_profile = Profile::unrestricted;
  EXPECT_EQ(stand.scope().read_text(stand.path("outside/secret")), "secret");
  stand.policy.capabilities = Capabilities{};
  EXPECT_EQ(stand.scope().read_text(stand.path("outside/secret")).error().code, ErrorCode::refused);
}

TEST(FileScope, WritingKeepsTheModeAndLeavesNothingBeside) {
  const Stand stand;
  const auto file = stand.temp.file("w/run.sh", "old");
  ASSERT_EQ(::chmod(file.text().c_str(), 04755), 0);
  const auto files = stand.scope();
  ASSERT_TRUE(files.write_text("run.sh", "new"));
  struct stat status = {};
  ASSERT_EQ(::stat(file.text().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777u, 0755u);
  EXPECT_EQ(text_of(file), "new");
  stand.temp.directory("w/directory");
  EXPECT_EQ(files.write_text("directory", "x").error().os_error, EISDIR);
  EXPECT_EQ(files.write_text("run.sh/x", "x").error().os_error, ENOTDIR);
  EXPECT_EQ(files.list(".")->size(), 2u);
}

TEST(FileScope, ASingleFileCanBeTheRoot) {
  Stand stand;
  const auto file = stand.temp.file("notes/today", "old");
  stand.temp.file("notes/other", "other");
  stand.policy.workspace_roots = {file};
  const auto files = stand.scope();
  const auto written = files.write_text(file.text(), "new");
  EXPECT_TRUE(written) << describe(written.error());
  EXPECT_EQ(text_of(file), "new");
  EXPECT_EQ(files.read_text(stand.path("notes/other")).error().code, ErrorCode::refused);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(stand.path("notes")), {}), 2);
}

TEST(FileScope, SpecialFilesNeitherBlockNorOpen) {
  const Stand stand;
  ASSERT_EQ(::mkfifo(stand.path("w/pipe").c_str(), 0600), 0);
  const auto files = stand.scope();
  EXPECT_EQ(files.read_text("pipe").error().code, ErrorCode::io);
  EXPECT_FALSE(files.write_text("pipe", "x"));
  EXPECT_EQ(files.read_text(".").error().os_error, EISDIR);
  EXPECT_EQ(files.read_text("f", 3).error().os_error, ENOENT);
  stand.temp.file("w/long", "four");
  EXPECT_EQ(files.read_text("long", 3).error().code, ErrorCode::io);
  EXPECT_EQ(files.read_text("long", 4), "four");
}

TEST(FileScope, StandardDevicesAreTheStreamsAndNothingElse) {
  const Stand stand;
  stand.temp.link("w/tty", "/dev/null");
  const auto files = stand.scope();
  EXPECT_EQ(files.read_text("/dev/null"), "");
  EXPECT_TRUE(files.write_text("/dev/null", "x"));
  for (const auto* path : {"/dev/random", "/dev/zero", "/dev/fd/x", "/dev/fd/7", "/dev/fd/01", "tty"})
    EXPECT_EQ(files.read_text(path).error().code, ErrorCode::refused) << path;
  EXPECT_EQ(files.write_text("/dev/stdin", "x").error().code, ErrorCode::refused);
  EXPECT_EQ(files.remove("/dev/null").error().code, ErrorCode::refused);
}

TEST(FileScope, APolicyScopeNarrowsItWhileItLasts) {
  const Stand stand;
  stand.temp.file("w/a/f", "a");
  stand.temp.file("w/b/f", "b");
  const auto files = stand.scope();
  {
    Policy narrower;
    narrower.workspace_roots = {stand.temp.path("w/a")};
    const auto scope = PolicyScope::enter(narrower);
    ASSERT_TRUE(scope);
    EXPECT_EQ(files.read_text("a/f"), "a");
    EXPECT_EQ(files.read_text("b/f").error().code, ErrorCode::refused);
    EXPECT_EQ(stand.scope().read_text("b/f").error().code, ErrorCode::refused);
  }
  EXPECT_EQ(files.read_text("b/f"), "b");
}

TEST(FileScope, NoPathIsAnError) {
  const Stand stand;
  const auto files = stand.scope();
  EXPECT_EQ(files.read_text("").error().code, ErrorCode::invalid_command);
  EXPECT_EQ(files.read_text(std::string_view("a\0b", 3)).error().code, ErrorCode::invalid_command);
}

}  // namespace
}  // namespace harn
