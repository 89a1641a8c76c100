// SPDX-License-Identifier: Apache-2.0
#include "host/linux/kernel_facts.h"

#include <sys/utsname.h>

#include <algorithm>

#include "base/text.h"
#include "sys/cgroup_places.h"
#include "sys/files.h"
#include "sys/landlock.h"
#include "sys/tries.h"

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

LinuxFacts kernel_name() {
  LinuxFacts facts;
  utsname name = {};
  if (::uname(&name) == 0) {
    facts.kernel = name.release;
    facts.arch = name.machine;
  }
  return facts;
}

LinuxFacts kernel_facts(std::uint32_t uid, const KernelFiles& files) {
  auto facts = kernel_name();
  facts.landlock_abi = sys::landlock_abi();
  const auto actions = setting(files.proc.join("sys/kernel/seccomp/actions_avail"));
  facts.seccomp = has_word(actions, "errno") && has_word(actions, "allow");
  facts.seccomp_notify = facts.seccomp && has_word(actions, "user_notif");
  facts.pidfd_getfd = sys::can_copy_descriptors();
  const auto verdict = judge_user_namespaces(uid, files);
  facts.user_namespaces = verdict.usable;
  facts.why_no_user_namespaces = verdict.why_not;
  const auto namespaces = files.proc.join("self/ns");
  facts.pid_namespaces = verdict.usable && sys::type_of(namespaces.join("pid")) != sys::FileType::missing;
  facts.network_namespaces = verdict.usable && sys::type_of(namespaces.join("net")) != sys::FileType::missing;
  facts.cgroup = sys::find_cgroup_places(files.proc).kind;
  return facts;
}

}  // namespace harn::host
