// SPDX-License-Identifier: Apache-2.0
#include "confine/support/scene.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "confine/support/tools.h"

namespace harn::confine {
namespace {

namespace fs = std::filesystem;

// One scene after another stands in the same place: what was proved about the host for its home is proved once.
std::string fresh_directory(const std::string& where) {
  static std::map<std::string, std::string> places;
  auto& place = places[where];
  if (place.empty()) {
    place = where + "/harn-confine-XXXXXX";
    if (::mkdtemp(place.data()) == nullptr) std::abort();
  } else if (::mkdir(place.c_str(), S_IRWXU) != 0) {
    std::abort();
  }
  ::chmod(place.c_str(), 0755);
  return place;
}

void write(const std::string& path, std::string_view text) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string line_for(const fs::path& path) {
  struct stat seen = {};
  if (::lstat(path.c_str(), &seen) != 0) return path.string() + " gone\n";
  const auto content = S_ISREG(seen.st_mode) ? read(path) : std::string();
  return fmt::format("{} mode={:o} owner={} links={} changed={}.{} {}\n", path.string(), seen.st_mode, seen.st_uid, seen.st_nlink,
                     seen.st_ctim.tv_sec, seen.st_ctim.tv_nsec, content);
}

}  // namespace

Scene::Scene(uid_t uid, std::span<const Case> cases) : uid_(uid), root_(fresh_directory("/var/tmp")), temp_(fresh_directory("/tmp")) {
  for (const auto* name : {"work", "home", "shared", "outside", "run"}) fs::create_directories(path(name));
  make_workspace();
  make_home();
  for (const auto& row : cases) make_own(row);
  write(path("shared") + "/file", "granted for reading\n");
  fs::create_directories(path("shared") + "/directory");
  ::setxattr((path("shared") + "/file").c_str(), "user.harn.planted", "x", 1, 0);
  write(temp_ + "/secret", "secret\n");
  own_everything();
  start_victim();
}

Scene::~Scene() {
  end_victim();
  std::error_code ignored;
  fs::remove_all(root_, ignored);
  fs::remove_all(temp_, ignored);
}

std::string Scene::path(std::string_view name) const {
  if (name == "temp") return temp_;
  if (name == "tools") return tools_directory();
  return root_ + "/" + std::string(name);
}

void Scene::make_workspace() {
  const auto work = path("work");
  write(work + "/file", "the workspace's own\n");
  write(work + "/harn.toml", "sandbox_profile = \"worktree\"\n");
  write(work + "/.git/HEAD", "ref: refs/heads/main\n");
  write(work + "/.git/config", "[core]\n\trepositoryformatversion = 0\n");
  write(work + "/.git/hooks/pre-commit", "#!/bin/sh\n");
  write(work + "/.vscode/settings.json", "{}\n");
  write(work + "/fixed/file", "read-only inside the workspace\n");
  write(work + "/deep/denied/secret", "denied inside the workspace\n");
  write(work + "/deep/open", "beside it\n");
  fs::create_directories(work + "/.git/objects");
  fs::create_directories(work + "/.git/refs");
  fs::create_directories(work + "/bin");
  fs::create_symlink(path("outside"), work + "/way_out");
}

void Scene::make_home() {
  for (const auto* name : {"/.ssh/id_rsa", "/.aws/credentials", "/.netrc", "/.bash_history", "/.config/gh/hosts.yml",
                           "/.claude/settings.json", "/.gnupg/secring.gpg", "/.config/harn/config.toml", "/notes"})
    write(path("home") + name, name == std::string_view("/.config/harn/config.toml") ? "" : "secret\n");
  fs::create_symlink(path("home") + "/.ssh", path("work") + "/way_to_keys");
}

void Scene::make_own(const Case& row) {
  const auto own = path("outside") + "/" + std::string(row.id);
  write(own + "/secret", "secret\n");
  write(own + "/other", "secret too\n");
  fs::create_directories(own + "/directory");
  fs::create_symlink(own + "/secret", own + "/link");
  ::setxattr((own + "/secret").c_str(), "user.harn.planted", "x", 1, 0);
  std::error_code ignored;
  fs::copy_file("/bin/true", own + "/program", ignored);
}

void Scene::own_everything() const {
  if (uid_ == ::getuid()) return;
  for (const auto& root : {root_, temp_}) {
    if (::lchown(root.c_str(), uid_, uid_) != 0) std::abort();
    for (const auto& entry : fs::recursive_directory_iterator(root))
      if (::lchown(entry.path().c_str(), uid_, uid_) != 0) std::abort();
  }
}

void Scene::start_victim() {
  int in[2] = {};
  int out[2] = {};
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) std::abort();
  const auto program = tools_directory() + "/harn_probe";
  const auto directory = "directory=" + path("outside");
  const auto shared = "shared=" + path("shared");
  victim_ = ::fork();
  if (victim_ == 0) {
    ::setpgid(0, 0);
    ::dup2(in[0], STDIN_FILENO);
    ::dup2(out[1], STDOUT_FILENO);
    become(uid_);
    const char* argv[] = {program.c_str(), "--victim", directory.c_str(), shared.c_str(), nullptr};
    const char* environment[] = {"VICTIM_SECRET=secret", nullptr};
    ::execve(program.c_str(), const_cast<char**>(argv), const_cast<char**>(environment));
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  to_victim_ = in[1];
  from_victim_ = out[0];
  char block[4096];
  while (heard_.find("ready=1\n") == std::string::npos) {
    const auto got = ::read(from_victim_, block, sizeof block);
    if (got <= 0) std::abort();
    heard_.append(block, static_cast<std::size_t>(got));
  }
  std::size_t at = 0;
  while (at < heard_.size()) {
    const auto end = heard_.find('\n', at);
    const auto line = heard_.substr(at, end - at);
    facts_[line.substr(0, line.find('='))] = line.substr(line.find('=') + 1);
    at = end + 1;
  }
}

std::map<std::string, int> Scene::end_victim() {
  std::map<std::string, int> counts;
  if (victim_ < 0) return counts;
  ::close(to_victim_);
  std::string said;
  char block[4096];
  for (ssize_t got = 0; (got = ::read(from_victim_, block, sizeof block)) > 0;) said.append(block, static_cast<std::size_t>(got));
  ::close(from_victim_);
  ::waitpid(victim_, nullptr, 0);
  victim_ = -1;
  for (std::size_t at = 0; at < said.size();) {
    const auto end = said.find('\n', at);
    const auto line = said.substr(at, end - at);
    if (line.starts_with("count.")) counts[line.substr(6, line.find('=') - 6)] = ::atoi(line.c_str() + line.find('=') + 1);
    at = end == std::string::npos ? said.size() : end + 1;
  }
  return counts;
}

std::string Scene::fill(std::string_view text, std::string_view id) const {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text[at] == '{' ? text.find('}', at) : std::string_view::npos;
    if (end == std::string_view::npos) {
      out += text[at++];
      continue;
    }
    const std::string name(text.substr(at + 1, end - at - 1));
    const auto fact = facts_.find(name);
    if (name == "own") out += path("outside") + "/" + std::string(id);
    else out += fact != facts_.end() ? fact->second : path(name);
    at = end + 1;
  }
  return out;
}

std::string Scene::fingerprint(std::string_view id) const { return fingerprint_of(path("outside") + "/" + std::string(id)); }

std::string Scene::fingerprint_of(const std::string& path) {
  std::string out = line_for(path);
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(path, ignored)) out += line_for(entry.path());
  return out;
}

}  // namespace harn::confine
