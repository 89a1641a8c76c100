// SPDX-License-Identifier: Apache-2.0
#include "run/proc_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"

namespace harn::run {
namespace {

std::string read_whole(int directory, const std::string& path) {
  const sys::UniqueFd fd(::openat(directory, path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  if (!fd) return text;
  char block[8192];
  for (;;) {
    const auto got = ::read(fd.get(), block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(block, static_cast<std::size_t>(got));
  }
}

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number out = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return out;
}

// The name in parentheses is the command's to choose; what follows its last parenthesis is not.
Member parse_stat(pid_t pid, std::string_view text) {
  Member member{.pid = pid};
  const auto end = text.rfind(") ");
  if (end == std::string_view::npos) return {};
  const auto words = base::split(base::trim(text.substr(end + 2)), ' ');
  if (words.size() < 20) return {};
  const auto field = [&](std::size_t position) { return number<std::uint64_t>(words[position - 3]).value_or(0); };  // as proc(5) counts
  member.cpu_ticks = field(14) + field(15);
  member.reaped_cpu_ticks = field(16) + field(17);
  member.threads = field(20);
  member.started = field(22);
  return member;
}

}  // namespace

ProcTree ProcTree::of(const Process& process, bool orphans) {
  ProcTree tree;
  if (process.has_init()) {
    tree.proc_ = sys::UniqueFd(::open(fmt::format("/proc/{}/root/proc", process.pid()).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // Only a /proc of another pid namespace calls the init program 1.
    tree.held_ = true;
    const auto name = tree.proc_ ? read_whole(tree.proc_.get(), "1/comm") : std::string();
    tree.own_namespace_ = name.starts_with("harn-init") || name.starts_with("harn-supervisor");
  }
  if (!tree.own_namespace_) tree.proc_ = sys::UniqueFd(::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  tree.root_ = process.pid();
  tree.root_started_ = parse_stat(process.pid(), tree.read(process.pid(), "stat")).started;
  tree.orphans_ = orphans;
  return tree;
}

std::vector<pid_t> ProcTree::pids() const {
  std::vector<pid_t> out;
  if (own_namespace_) {
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(::fdopendir(::openat(proc_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
                                                        &::closedir);
    if (!directory) return out;
    while (const auto* entry = ::readdir(directory.get()))
      if (const auto pid = number<pid_t>(entry->d_name)) out.push_back(*pid);
    return out;
  }
  if (parse_stat(root_, read(root_, "stat")).started == root_started_) {
    out.push_back(root_);
    add_below(root_, out);
  }
  if (orphans_) add_below(::getpid(), out);
  return out;
}

void ProcTree::add_below(pid_t pid, std::vector<pid_t>& out) const {
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(::fdopendir(open_directory(pid, "task").release()), &::closedir);
  if (!tasks) return;
  while (const auto* task = ::readdir(tasks.get())) {
    const auto children = read(pid, fmt::format("task/{}/children", task->d_name));
    for (const auto word : base::split(children, ' ')) {
      const auto child = number<pid_t>(word);
      if (!child || std::ranges::find(out, *child) != out.end()) continue;
      out.push_back(*child);
      add_below(*child, out);
    }
  }
}

std::vector<Member> ProcTree::members() const {
  std::vector<Member> out;
  for (const auto pid : pids()) {
    auto member = parse_stat(pid, read(pid, "stat"));
    member.init = held_ && pid == (own_namespace_ ? 1 : root_);
    if (member.pid != 0) out.push_back(member);
  }
  return out;
}

pid_t ProcTree::holder(const Member& member) const {
  if (has_memory(read(member.pid, "status"))) return member.pid;
  if (member.threads < 2) return 0;
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(::fdopendir(open_directory(member.pid, "task").release()), &::closedir);
  if (!tasks) return 0;
  while (const auto* task = ::readdir(tasks.get()))
    if (const auto thread = number<pid_t>(task->d_name); thread && has_memory(read(*thread, "status"))) return *thread;
  return 0;
}

std::string ProcTree::read(pid_t pid, std::string_view file) const { return read_whole(proc_.get(), fmt::format("{}/{}", pid, file)); }

sys::UniqueFd ProcTree::open_directory(pid_t pid, std::string_view name) const {
  return sys::UniqueFd(::openat(proc_.get(), fmt::format("{}/{}", pid, name).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

bool has_memory(std::string_view status) { return status.find("\nVmRSS:") != std::string_view::npos; }

std::uint64_t bytes_of(std::string_view text, std::string_view name) {
  for (std::size_t at = 0; at < text.size();) {
    const auto line = text.substr(at, text.find('\n', at) - at);
    at += line.size() + 1;
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ':') continue;
    const auto value = base::trim(line.substr(name.size() + 1));
    return number<std::uint64_t>(value.substr(0, value.find(' '))).value_or(0) * 1024;
  }
  return 0;
}

}  // namespace harn::run
