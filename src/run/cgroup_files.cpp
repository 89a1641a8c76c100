// SPDX-License-Identifier: Apache-2.0
#include "run/cgroup_files.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <charconv>

#include <fmt/format.h>

#include "base/text.h"
#include "sys/files.h"
#include "sys/unique_fd.h"

namespace harn::run {
namespace {

constexpr std::size_t longest_counter = 1u << 16;

struct Counter {
  std::string_view v1_file = {};
  std::string_view v1_key = {};
  std::string_view v2_file = {};
  std::string_view v2_key = {};
};

// Only swap may go uncounted: kernels without swap accounting have no file for it, and what is
// resident stays limited.
bool may_be_missing(std::string_view file) { return file == "memory.memsw.limit_in_bytes" || file == "memory.swap.max"; }

std::uint64_t number_at(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// "value", or the value behind `key` in lines of "key value".
std::uint64_t number_in(std::string_view text, std::string_view key) {
  if (key.empty()) return number_at(text);
  for (const auto line : base::split(text, '\n'))
    if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ' ') return number_at(line.substr(key.size() + 1));
  return 0;
}

const AbsPath* directory_of(const CgroupFiles& files, std::string_view file) {
  const auto found = files.directories.find(files.kind == CgroupKind::v2 ? std::string_view() : controller_of(file));
  return found == files.directories.end() ? nullptr : &found->second;
}

std::uint64_t count(const CgroupFiles& files, const Counter& counter) {
  const bool v2 = files.kind == CgroupKind::v2;
  const auto file = v2 ? counter.v2_file : counter.v1_file;
  const auto* directory = directory_of(files, file);
  if (directory == nullptr) return 0;
  const auto text = sys::read_file(directory->join(file), longest_counter);
  return text ? number_in(*text, v2 ? counter.v2_key : counter.v1_key) : 0;
}

Status write_value(const CgroupFiles& files, const std::string& file, const std::string& value) {
  const auto* directory = directory_of(files, file);
  if (directory == nullptr) return fail(cgroup_failure("open", file, ENOENT));
  const auto path = directory->join(file);
  const sys::UniqueFd fd(::open(path.text().c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd && errno == ENOENT && may_be_missing(file)) return {};
  if (!fd) return fail(cgroup_failure("open", path.text(), errno));
  if (::write(fd.get(), value.data(), value.size()) != static_cast<ssize_t>(value.size()))
    return fail(cgroup_failure("write", fmt::format("{} to {}", value, path.text()), errno));
  return {};
}

}  // namespace

std::string_view controller_of(std::string_view file) { return file.substr(0, file.find('.')); }

Error cgroup_failure(std::string_view call, std::string_view what, int error) {
  auto out = sys::os_failure(call, what, error, Stage::prepare);
  out.hint = "the command did not run; 'harn doctor' shows what this host can do";
  return out;
}

Status CgroupFiles::write(const std::map<std::string, std::string>& values) const {
  for (const auto& [file, value] : values) HARN_OK(write_value(*this, file, value));
  return {};
}

std::uint64_t CgroupFiles::oom_kills() const {
  return count(*this, {.v1_file = "memory.oom_control", .v1_key = "oom_kill", .v2_file = "memory.events", .v2_key = "oom_kill"});
}

std::uint64_t CgroupFiles::cpu_us() const {
  const auto counted = count(*this, {.v1_file = "cpuacct.usage", .v2_file = "cpu.stat", .v2_key = "usage_usec"});
  return kind == CgroupKind::v2 ? counted : counted / 1000;
}

std::uint64_t CgroupFiles::memory_peak_bytes() const {
  return count(*this, {.v1_file = "memory.max_usage_in_bytes", .v2_file = "memory.peak"});
}

std::uint64_t CgroupFiles::processes_peak() const { return count(*this, {.v1_file = "pids.peak", .v2_file = "pids.peak"}); }

std::uint64_t CgroupFiles::refused_forks() const {
  return count(*this, {.v1_file = "pids.events", .v1_key = "max", .v2_file = "pids.events", .v2_key = "max"});
}

}  // namespace harn::run
