// SPDX-License-Identifier: Apache-2.0
#include "host/linux/kernel_facts.h"

#include <sys/utsname.h>

#include <algorithm>

#include "base/text.h"
#include "sys/files.h"
#include "sys/landlock.h"

namespace harn::host {
namespace {

constexpr std::size_t longest_setting = 65536;

std::string setting(const AbsPath& file) {
  const auto text = sys::read_file(file, longest_setting);
  return text ? std::string(base::trim(*text)) : std::string();
}

bool has_word(std::string_view text, std::string_view word, char separator = ' ') {
  const auto words = base::split(text, separator);
  return std::ranges::find(words, word) != words.end();
}

bool usable_v2(const KernelFiles& files, std::string_view place) {
  const auto here = files.cgroup.join(place);
  const auto controllers = setting(here.join("cgroup.controllers"));
  return has_word(controllers, "memory") && has_word(controllers, "pids") && sys::is_writable_directory(here);
}

}  // namespace

NamespaceVerdict judge_user_namespaces(std::uint32_t uid, const KernelFiles& files) {
  const auto switches = files.proc.join("sys");
  const auto most = setting(switches.join("user/max_user_namespaces"));
  if (most.empty()) return {false, "the kernel has no user namespaces"};
  if (most == "0") return {false, "user.max_user_namespaces is 0"};
  if (uid == 0) return {true, ""};
  if (setting(switches.join("kernel/unprivileged_userns_clone")) == "0") return {false, "kernel.unprivileged_userns_clone is 0"};
  if (setting(switches.join("kernel/apparmor_restrict_unprivileged_userns")) == "1")
    return {false, "kernel.apparmor_restrict_unprivileged_userns is 1"};
  return {true, ""};
}

CgroupKind usable_cgroup(const KernelFiles& files) {
  const auto text = sys::read_file(files.proc.join("self/cgroup"), longest_setting);
  if (!text) return CgroupKind::none;
  std::size_t v1 = 0;
  for (const auto line : base::split(*text, '\n')) {
    const auto parts = base::split(line, ':');
    if (parts.size() < 3) continue;
    const auto place = line.substr(parts[0].size() + parts[1].size() + 2);
    if (parts[1].empty() && usable_v2(files, place)) return CgroupKind::v2;
    for (const std::string_view controller : {"memory", "pids"})
      if (has_word(parts[1], controller, ',') && sys::is_writable_directory(files.cgroup.join(controller).join(place))) ++v1;
  }
  return v1 == 2 ? CgroupKind::v1 : CgroupKind::none;
}

LinuxFacts kernel_facts(std::uint32_t uid, const KernelFiles& files) {
  LinuxFacts facts;
  utsname name = {};
  if (::uname(&name) == 0) {
    facts.kernel = name.release;
    facts.arch = name.machine;
  }
  facts.landlock_abi = sys::landlock_abi();
  const auto actions = setting(files.proc.join("sys/kernel/seccomp/actions_avail"));
  facts.seccomp = has_word(actions, "errno") && has_word(actions, "allow");
  facts.seccomp_notify = facts.seccomp && has_word(actions, "user_notif");
  const auto verdict = judge_user_namespaces(uid, files);
  facts.user_namespaces = verdict.usable;
  facts.why_no_user_namespaces = verdict.why_not;
  const auto namespaces = files.proc.join("self/ns");
  facts.pid_namespaces = verdict.usable && sys::type_of(namespaces.join("pid")) != sys::FileType::missing;
  facts.network_namespaces = verdict.usable && sys::type_of(namespaces.join("net")) != sys::FileType::missing;
  facts.cgroup = usable_cgroup(files);
  return facts;
}

}  // namespace harn::host
