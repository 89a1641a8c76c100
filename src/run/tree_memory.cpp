// SPDX-License-Identifier: Apache-2.0
#include "run/tree_memory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include <fmt/format.h>

#include "base/text.h"
#include "sys/files.h"

namespace harn::run {
namespace {

constexpr std::size_t longest_table = 4u << 20;
constexpr std::uint64_t block_bytes = 512;  // what st_blocks counts

struct Mounted {
  std::string device = {};  // "0:53"
  std::string point = {};
};

std::vector<Mounted> memory_file_systems(pid_t pid) {
  std::vector<Mounted> out;
  const auto table = sys::read_file(AbsPath::of(fmt::format("/proc/{}/mountinfo", pid)), longest_table);
  if (!table) return out;
  for (const auto line : base::split(*table, '\n')) {
    const auto words = base::split(line, ' ');
    const auto dash = std::ranges::find(words, "-");
    if (words.size() < 6 || words.end() - dash < 2 || dash[1] != "tmpfs") continue;
    out.push_back({.device = std::string(words[2]), .point = std::string(words[4])});
  }
  return out;
}

// Counters the kernel keeps anyway; a page shared by two processes counts twice.
std::uint64_t upper_bound(std::string_view status) {
  return bytes_of(status, "RssAnon") + bytes_of(status, "RssShmem") + bytes_of(status, "VmSwap") + bytes_of(status, "VmPTE");
}

// Each page divided among those who share it. Empty where the process is closed to us.
std::uint64_t proportional(std::string_view rollup, std::string_view status) {
  if (rollup.empty()) return upper_bound(status);
  return bytes_of(rollup, "Pss_Anon") + bytes_of(rollup, "Pss_Shmem") + bytes_of(rollup, "SwapPss") + bytes_of(status, "VmPTE");
}

// A line such as "7f00-7f80 rw-s 00000000 00:01 1029   /memfd:x (deleted)" begins a mapping in smaps.
struct Mapping {
  dev_t device = 0;
  ino_t inode = 0;
  bool system_v = false;
};

bool parse_mapping(std::string_view line, Mapping& out) {
  const auto words = base::split(line, ' ');
  if (words.size() < 5 || words[0].find('-') == std::string_view::npos) return false;
  const auto colon = words[3].find(':');
  if (colon == std::string_view::npos) return false;
  unsigned major = 0;
  unsigned minor = 0;
  std::uint64_t inode = 0;
  const auto hex = [](std::string_view text, unsigned& number) { std::from_chars(text.data(), text.data() + text.size(), number, 16); };
  hex(words[3].substr(0, colon), major);
  hex(words[3].substr(colon + 1), minor);
  std::from_chars(words[4].data(), words[4].data() + words[4].size(), inode);
  out = {.device = makedev(major, minor), .inode = inode, .system_v = line.find(" /SYSV") != std::string_view::npos};
  return true;
}

}  // namespace

TreeMemory TreeMemory::of(const Process& process) {
  TreeMemory memory;
  if (const sys::UniqueFd probe(::memfd_create("harn", MFD_CLOEXEC)); probe) {
    struct stat status = {};
    if (::fstat(probe.get(), &status) == 0) memory.memory_file_device_ = status.st_dev;
  }
  if (!process.has_init()) return memory;
  std::set<std::string> seen;
  for (const auto& [device, point] : memory_file_systems(::getpid())) seen.insert(device);  // the host's, bound into the view
  for (const auto& [device, point] : memory_file_systems(process.pid())) {
    if (!seen.insert(device).second) continue;
    sys::UniqueFd fd(::open(fmt::format("/proc/{}/root{}", process.pid(), point).c_str(), O_PATH | O_CLOEXEC));
    struct stat status = {};
    if (!fd || ::fstat(fd.get(), &status) != 0) continue;
    memory.devices_.insert(status.st_dev);
    memory.file_systems_.push_back(std::move(fd));
  }
  return memory;
}

TreeMemory::Held TreeMemory::held(const ProcTree& tree, const std::vector<Member>& members) const {
  Held held{.bytes = system_v_};
  for (const auto& fd : file_systems_) {
    struct statfs use = {};
    if (::fstatfs(fd.get(), &use) == 0) held.bytes += (use.f_blocks - use.f_bfree) * static_cast<std::uint64_t>(use.f_bsize);
  }
  for (const auto& member : members)
    if (!member.init) add_memory_files(tree, member.pid, held);
  return held;
}

void TreeMemory::add_memory_files(const ProcTree& tree, pid_t pid, Held& held) const {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::fdopendir(tree.open_directory(pid, "fd").release()), &::closedir);
  if (!directory) return;
  while (const auto* entry = ::readdir(directory.get())) {
    struct stat status = {};
    if (::fstatat(::dirfd(directory.get()), entry->d_name, &status, 0) != 0 || status.st_dev != memory_file_device_) continue;
    if (!held.memory_files.emplace(status.st_dev, status.st_ino).second) continue;
    held.bytes += static_cast<std::uint64_t>(status.st_blocks) * block_bytes;
  }
}

std::uint64_t TreeMemory::counted_twice(const ProcTree& tree, pid_t pid, const Held& held) const {
  const auto text = tree.read(pid, "smaps");
  std::uint64_t twice = 0;
  bool counted = false;
  std::uint64_t proportion = 0;
  for (const auto line : base::split(text, '\n')) {
    if (Mapping mapping; parse_mapping(line, mapping)) {
      counted = devices_.contains(mapping.device) || held.memory_files.contains({mapping.device, mapping.inode}) ||
                (mapping.system_v && mapping.device == memory_file_device_);
    } else if (counted && line.starts_with("Pss:")) {
      proportion = bytes_of(line, "Pss");
      twice += proportion;
    } else if (counted && line.starts_with("Anonymous:")) {
      twice -= std::min(proportion, bytes_of(line, "Anonymous"));  // private copies of its pages are memory of their own
    }
  }
  return twice;
}

std::uint64_t TreeMemory::bytes(const ProcTree& tree, const std::vector<Member>& members, std::uint64_t limit) const {
  const auto first = bytes_once(tree, members, limit);
  // A process that ends while it is looked at takes away what its files would have been deducted by.
  return first <= limit ? first : std::min(first, bytes_once(tree, members, limit));
}

std::uint64_t TreeMemory::bytes_once(const ProcTree& tree, const std::vector<Member>& members, std::uint64_t limit) const {
  const auto held = this->held(tree, members);
  const auto total = [&](const auto& of_member) {
    auto sum = held.bytes;
    for (const auto& member : members)
      if (!member.init) sum += of_member(member.pid);
    return sum;
  };
  const auto most = total([&](pid_t pid) { return upper_bound(tree.read(pid, "status")); });
  if (most <= limit) return most;
  const auto shared_once = total([&](pid_t pid) { return proportional(tree.read(pid, "smaps_rollup"), tree.read(pid, "status")); });
  if (shared_once <= limit) return shared_once;
  std::uint64_t twice = 0;
  for (const auto& member : members)
    if (!member.init) twice += counted_twice(tree, member.pid, held);
  return shared_once - std::min(twice, shared_once);
}

}  // namespace harn::run
