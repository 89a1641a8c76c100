// SPDX-License-Identifier: Apache-2.0
#include "confine/support/tools.h"

#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

namespace harn::confine {
namespace {

namespace fs = std::filesystem;

class Tools {
 public:
  Tools() {
    std::string pattern = "/var/tmp/harn-tools-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    root_ = pattern;
    ::chmod(root_.c_str(), 0755);
    bring(HARN_BINARY, "harn");
    bring(HARN_PROBE, "harn_probe");
    bring(HARN_LESS, "harn_less");
    fs::copy_file(HARN_PROBE, root_ + "/set_user_id");
    ::chmod((root_ + "/set_user_id").c_str(), 04755);
  }
  ~Tools() {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  Tools(const Tools&) = delete;
  Tools& operator=(const Tools&) = delete;

  const std::string& root() const { return root_; }

 private:
  void bring(const char* program, const char* name) {
    const auto place = root_ + "/" + name;
    std::error_code failed;
    fs::create_hard_link(program, place, failed);
    if (failed) fs::copy_file(program, place);
  }

  std::string root_ = {};
};

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (auto& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

[[noreturn]] void start(const Launch& launch, int out) {
  auto words = launch.argv;
  std::vector<std::string> pairs;
  for (const auto& [name, value] : launch.environment) pairs.push_back(name + "=" + value);
  auto argv = pointers(words);
  auto environment = pointers(pairs);
  if (launch.terminal >= 0) {
    ::setsid();
    ::ioctl(launch.terminal, TIOCSCTTY, 0);
  } else {
    ::setpgid(0, launch.group);
  }
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const int input = launch.terminal >= 0 ? launch.terminal : launch.streams[0] >= 0 ? launch.streams[0] : null;
  if (::dup2(input, STDIN_FILENO) < 0 || ::dup2(out, STDOUT_FILENO) < 0) ::_exit(99);
  if (launch.streams[1] >= 0) ::dup2(launch.streams[1], STDERR_FILENO);
  for (const auto& [ours, number] : launch.extra) ::dup2(ours, number);
  become(launch.uid);
  if (::chdir(launch.cwd.c_str()) != 0) ::_exit(99);
  ::execve(argv[0], argv.data(), environment.data());
  ::_exit(98);
}

}  // namespace

const std::string& tools_directory() {
  static const Tools tools;
  return tools.root();
}

void become(uid_t uid) {
  if (::getuid() == uid) return;
  if (::setgroups(0, nullptr) != 0 || ::setresgid(uid, uid, uid) != 0 || ::setresuid(uid, uid, uid) != 0) ::_exit(97);
}

Finished run(const Launch& launch) {
  int ends[2] = {};
  if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
  const pid_t child = ::fork();
  if (child == 0) start(launch, ends[1]);
  ::close(ends[1]);
  Finished finished;
  char block[1 << 16];
  for (ssize_t got = 0; (got = ::read(ends[0], block, sizeof block)) > 0;) finished.out.append(block, static_cast<std::size_t>(got));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  finished.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return finished;
}

}  // namespace harn::confine
