// SPDX-License-Identifier: Apache-2.0
// Accounts by the C library: on macOS they stand in no file.
#include <pwd.h>
#include <sys/param.h>
#include <sys/sysctl.h>
#include <sys/time.h>
#include <unistd.h>

#include <string>

#include "host/system_facts.h"

namespace harn::host {

std::optional<AbsPath> account_home(std::uint32_t uid) {
  passwd entry = {};
  passwd* found = nullptr;
  std::string space(1u << 14, '\0');
  if (::getpwuid_r(uid, &entry, space.data(), space.size(), &found) != 0 || found == nullptr || found->pw_dir == nullptr)
    return std::nullopt;
  auto path = AbsPath::parse(found->pw_dir);
  if (!path) return std::nullopt;
  return std::move(*path);
}

std::optional<std::string> boot_name() {
  int name[] = {CTL_KERN, KERN_BOOTTIME};
  timeval started = {};
  std::size_t size = sizeof started;
  if (::sysctl(name, 2, &started, &size, nullptr, 0) != 0) return std::nullopt;
  return "started " + std::to_string(started.tv_sec);
}

}  // namespace harn::host
