// SPDX-License-Identifier: Apache-2.0
#include "run/cgroup_members.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "base/text.h"
#include "sys/files.h"
#include "sys/unique_fd.h"

namespace harn::run {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t longest_list = 4u << 20;
constexpr std::size_t most_siblings = 1u << 16;
constexpr milliseconds patience{2000};
constexpr std::string_view prefix = "harn-run-";
constexpr std::size_t id_digits = 16;

bool is_cgroup_name(std::string_view name) {
  return name.starts_with(prefix) && name.size() == prefix.size() + id_digits &&
         name.find_first_not_of("0123456789abcdef", prefix.size()) == std::string_view::npos;
}

bool write_text(const AbsPath& file, std::string_view text) {
  const sys::UniqueFd fd(::open(file.text().c_str(), O_WRONLY | O_CLOEXEC));
  return fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// A pid read a moment ago may be somebody else's by now; the descriptor is not, and its process
// names the cgroup it is in.
void kill_member(pid_t pid, std::string_view group) {
  const sys::UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process) return;
  const auto places = sys::read_file(AbsPath::of(fmt::format("/proc/{}/cgroup", pid)), longest_list);
  if (!places || places->find(group) == std::string::npos) return;
  ::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0);
}

}  // namespace

std::string cgroup_name(std::string_view run_id) { return fmt::format("harn-{}", run_id); }

bool kill_members(const AbsPath& directory) {
  // Nobody is born while they end: version 2 kills or freezes the group as one, version 1 lets the
  // pids controller refuse every fork.
  if (!write_text(directory.join("cgroup.kill"), "1") && !write_text(directory.join("cgroup.freeze"), "1"))
    write_text(directory.join("pids.max"), "0");
  const auto list = sys::read_file(directory.join("cgroup.procs"), longest_list);
  if (!list) return true;
  const auto group = directory.text().substr(directory.text().rfind('/'));
  bool nobody = true;
  for (const auto line : base::split(*list, '\n')) {
    pid_t pid = 0;
    if (std::from_chars(line.data(), line.data() + line.size(), pid).ec != std::errc{}) continue;
    nobody = false;
    // A member in a pid namespace we cannot see reads as 0, which would be our own process group.
    if (pid > 0) kill_member(pid, group);
  }
  return nobody;
}

bool remove_cgroup(const AbsPath& directory) {
  const auto until = std::chrono::steady_clock::now() + patience;
  for (milliseconds pause{1};; pause = std::min(pause * 2, milliseconds{50})) {
    if (::rmdir(directory.text().c_str()) == 0 || errno == ENOENT) return true;
    if (errno != EBUSY || std::chrono::steady_clock::now() >= until) return false;
    kill_members(directory);
    std::this_thread::sleep_for(pause);
  }
}

void sweep_dead_runs(const AbsPath& parent) {
  const auto names = sys::list_directory(parent, most_siblings);
  if (!names) return;
  for (const auto& name : *names) {
    if (!is_cgroup_name(name)) continue;
    const auto directory = parent.join(name);
    const sys::UniqueFd lock(::open(directory.text().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) remove_cgroup(directory);
  }
}

}  // namespace harn::run
