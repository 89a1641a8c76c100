// SPDX-License-Identifier: Apache-2.0
#include "prove/facts_key.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "sys/files.h"
#include "sys/unique_fd.h"

namespace harn::prove {
namespace {

constexpr std::size_t longest_setting = 4096;  // a page, as the kernel writes them; every page of stack costs a fault

// Small files of the kernel come whole in one read; one that is missing is a setting too.
std::string setting(const AbsPath& path) {
  const sys::UniqueFd fd(::open(path.text().c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return "-";
  std::array<char, longest_setting> buffer;  // NOLINT(*-member-init): a large block that read() fills
  const auto length = ::read(fd.get(), buffer.data(), buffer.size());
  return length < 0 ? "-" : std::string(base::trim({buffer.data(), static_cast<std::size_t>(length)}));
}

// What already holds us, without what changes by the minute.
std::string own_state(const AbsPath& proc) {
  std::string out;
  const auto status = setting(proc.join("self/status"));
  for (const std::string_view wanted : {"\nCapEff:", "\nCapBnd:", "\nNoNewPrivs:", "\nSeccomp:", "\nSeccomp_filters:"})
    if (const auto at = status.find(wanted); at != std::string::npos) out += status.substr(at + 1, status.find('\n', at + 1) - at);
  return out;
}

// A program that was replaced must be tried again.
std::string identity(const AbsPath& path) {
  struct stat status = {};
  if (::stat(path.text().c_str(), &status) != 0) return "-";
  return fmt::format("{} {} {} {} {}.{}", status.st_dev, status.st_ino, status.st_mode, status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
}

}  // namespace

FactsKey facts_key(const HostFacts& claimed, const AbsPath& proc) {
  FactsKey key{.boot = setting(proc.join("sys/kernel/random/boot_id"))};
  key.whole = fmt::format("harn {}\nproofs 3\nboot {}\nkernel {} {}\nuser {} {}\n", HARN_VERSION, key.boot, claimed.linux.kernel,
                          claimed.linux.arch, claimed.uid, claimed.gid);
  for (const auto* name : {"sys/user/max_user_namespaces", "sys/kernel/unprivileged_userns_clone",
                           "sys/kernel/apparmor_restrict_unprivileged_userns", "self/attr/current", "self/cgroup"})
    key.whole += fmt::format("{} {}\n", name, setting(proc.join(name)));
  for (const auto* name : {"self/ns/user", "self/ns/mnt"}) {
    const auto space = sys::link_text(proc.join(name));
    key.whole += fmt::format("{} {}\n", name, space ? *space : "-");
  }
  key.whole += own_state(proc);
  for (const auto& [name, tool] : claimed.tools) key.whole += fmt::format("{} {} {}\n", name, tool.path.text(), identity(tool.path));
  return key;
}

}  // namespace harn::prove
