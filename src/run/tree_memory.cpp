// SPDX-License-Identifier: Apache-2.0
#include "run/tree_memory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "base/text.h"
#include "run/smaps.h"
#include "sys/files.h"
#include "sys/mount_table.h"

namespace harn::run {
namespace {

constexpr std::size_t longest_table = 4u << 20;
constexpr std::uint64_t block_bytes = 512;  // what st_blocks counts

std::vector<sys::Mount> memory_file_systems(pid_t pid) {
  const auto table = sys::read_file(AbsPath::of(fmt::format("/proc/{}/mountinfo", pid)), longest_table);
  if (!table) return {};
  auto mounts = sys::parse_mounts(*table);
  std::erase_if(mounts, [](const sys::Mount& mount) { return mount.type != "tmpfs"; });
  return mounts;
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

}  // namespace

TreeMemory TreeMemory::of(const Process& process) {
  TreeMemory memory;
  if (const sys::UniqueFd probe(::memfd_create("harn", MFD_CLOEXEC)); probe) {
    struct stat status = {};
    if (::fstat(probe.get(), &status) == 0) memory.memory_file_device_ = status.st_dev;
  }
  if (!process.has_init()) return memory;
  std::set<std::string> seen;
  for (const auto& mount : memory_file_systems(::getpid())) seen.insert(mount.device);  // the host's, bound into the view
  for (const auto& [device, point, type] : memory_file_systems(process.pid())) {
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
  for (const auto& member : members) {
    const pid_t pid = member.init ? 0 : tree.holder(member);
    if (pid == 0) continue;
    held.holders.push_back(pid);
    add_memory_files(tree, pid, held);
  }
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
  std::uint64_t twice = 0;
  for (const auto& mapping : parse_smaps(tree.read(pid, "smaps"))) {
    const bool counted = devices_.contains(mapping.device) || held.memory_files.contains({mapping.device, mapping.inode}) ||
                         (mapping.system_v && mapping.device == memory_file_device_);
    // Private copies of its pages are memory of their own.
    if (counted) twice += mapping.proportion - std::min(mapping.proportion, mapping.anonymous);
  }
  return twice;
}

std::uint64_t TreeMemory::bytes(const ProcTree& tree, const std::vector<Member>& members, std::uint64_t limit) const {
  // A short burst must be seen in one cheap look. What a single process holds is held, whoever shares it.
  if (const auto alone = largest_holder(tree, members); alone > limit) return alone;
  const auto first = bytes_once(tree, members, limit);
  // A process that ends while it is looked at takes away what its files would have been deducted by.
  return first <= limit ? first : std::min(first, bytes_once(tree, members, limit));
}

std::uint64_t TreeMemory::largest_holder(const ProcTree& tree, const std::vector<Member>& members) {
  std::uint64_t largest = 0;
  for (const auto& member : members)
    if (const pid_t pid = member.init ? 0 : tree.holder(member); pid != 0)
      largest = std::max(largest, bytes_of(tree.read(pid, "status"), "RssAnon"));
  return largest;
}

std::uint64_t TreeMemory::bytes_once(const ProcTree& tree, const std::vector<Member>& members, std::uint64_t limit) const {
  const auto held = this->held(tree, members);
  const auto total = [&](const auto& of_holder) {
    auto sum = held.bytes;
    for (const auto pid : held.holders) sum += of_holder(pid);
    return sum;
  };
  const auto most = total([&](pid_t pid) { return upper_bound(tree.read(pid, "status")); });
  if (most <= limit) return most;
  const auto shared_once = total([&](pid_t pid) { return proportional(tree.read(pid, "smaps_rollup"), tree.read(pid, "status")); });
  if (shared_once <= limit) return shared_once;
  std::uint64_t twice = 0;
  for (const auto pid : held.holders) twice += counted_twice(tree, pid, held);
  return shared_once - std::min(twice, shared_once);
}

}  // namespace harn::run
