// SPDX-License-Identifier: Apache-2.0
#include "run/hidden_memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <string>

#include "base/text.h"
#include "run/smaps.h"
#include "sys/files.h"

namespace harn::run {
namespace {

constexpr std::chrono::seconds a_while{1};
constexpr std::size_t longest_table = 1u << 20;

std::uint64_t shared_on_host() {
  const auto table = sys::read_file(AbsPath::of("/proc/meminfo"), longest_table);
  if (!table) return 0;
  const auto swapped = bytes_of(*table, "SwapTotal") - std::min(bytes_of(*table, "SwapTotal"), bytes_of(*table, "SwapFree"));
  return bytes_of(*table, "Shmem") + swapped;
}

// One object of memory as the tree maps it.
struct Object {
  std::uint64_t end = 0;       // the last byte anybody maps
  std::uint64_t resident = 0;  // what all of them have of it
};

bool has_descriptors_in_flight(const ProcTree& tree, pid_t pid, const std::string& fd) {
  const auto text = tree.read(pid, "fdinfo/" + fd);
  const auto at = text.find("scm_fds:");
  if (at == std::string::npos) return false;
  const auto value = base::trim(std::string_view(text).substr(at + 8, text.find('\n', at) - at - 8));
  return value != "0";
}

// Somewhere a memory file can be without being seen.
bool has_hiding_place(const ProcTree& tree, pid_t pid) {
  auto opened = tree.open_directory(pid, "fd");
  if (!opened) return (errno == EACCES || errno == EPERM) && has_memory(tree.read(pid, "status"));
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::fdopendir(opened.release()), &::closedir);
  if (!directory) return false;
  while (const auto* entry = ::readdir(directory.get())) {
    struct stat status = {};
    if (::fstatat(::dirfd(directory.get()), entry->d_name, &status, 0) != 0 || !S_ISSOCK(status.st_mode)) continue;
    if (has_descriptors_in_flight(tree, pid, entry->d_name)) return true;
  }
  return false;
}

}  // namespace

HiddenMemory::HiddenMemory(dev_t memory_file_device) : memory_file_device_(memory_file_device), before_(shared_on_host()) {}

std::uint64_t HiddenMemory::growth() const {
  const auto now = shared_on_host();
  return now - std::min(now, before_);
}

std::uint64_t HiddenMemory::bytes(const ProcTree& tree, const std::vector<pid_t>& holders, const std::set<Inode>& counted,
                                  std::uint64_t counted_bytes, std::uint64_t growth) const {
  std::map<Inode, Object> objects;
  bool place = false;
  for (const auto pid : holders) {
    place = place || has_hiding_place(tree, pid);
    for (const auto& mapping : parse_smaps(tree.read(pid, "smaps"))) {
      const Inode inode(mapping.device, mapping.inode);
      if (mapping.device != memory_file_device_ || mapping.system_v || counted.contains(inode)) continue;
      auto& object = objects[inode];
      object.end = std::max(object.end, mapping.offset + mapping.size);
      object.resident += mapping.proportion - std::min(mapping.proportion, mapping.anonymous);
    }
  }
  std::uint64_t mapped = 0;
  for (const auto& [inode, object] : objects) {
    mapped += object.end - std::min(object.end, object.resident);
    counted_bytes += object.resident;
  }
  const auto unseen = growth - std::min(growth, counted_bytes);
  return place ? unseen : std::min(mapped, unseen);
}

std::uint64_t HiddenMemory::lasting(std::uint64_t bytes, Clock::time_point now) {
  looks_.emplace_back(now, bytes);
  while (looks_.size() > 1 && now - looks_[1].first >= a_while) looks_.pop_front();
  if (now - looks_.front().first < a_while) return 0;
  return std::ranges::min(looks_, {}, [](const auto& look) { return look.second; }).second;
}

}  // namespace harn::run
