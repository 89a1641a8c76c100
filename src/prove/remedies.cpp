// SPDX-License-Identifier: Apache-2.0
#include "prove/remedies.h"

#include <errno.h>
#include <unistd.h>

#include "base/text.h"
#include "host/linux/kernel_facts.h"
#include "sys/files.h"
#include "sys/uapi/landlock.h"

namespace harn::prove {
namespace {

constexpr std::size_t longest_status = 65536;

bool under_a_filter() {
  const auto text = sys::read_file(AbsPath::of("/proc/self/status"), longest_status);
  return text && text->find("\nSeccomp:\t2") != std::string::npos;
}

}  // namespace

std::string view_remedy(const Error& error, std::uint32_t uid) {
  // The nearest obstacle first: what already confines us also shows switches of its own.
  if (error.message.find("mount an own /proc") != std::string::npos)
    return "something covers parts of /proc, as containers do: docker run --security-opt systempaths=unconfined, or podman run "
           "--security-opt unmask=ALL";
  if (under_a_filter())
    return "a seccomp filter is in force: inside another harn this is as it should be; in a container, docker run --security-opt "
           "seccomp=unconfined";
  const auto verdict = host::judge_user_namespaces(uid, {});
  if (verdict.why_not.find("max_user_namespaces") != std::string::npos) return "sysctl -w user.max_user_namespaces=15000";
  if (verdict.why_not.find("unprivileged_userns_clone") != std::string::npos) return "sysctl -w kernel.unprivileged_userns_clone=1";
  if (verdict.why_not.find("apparmor") != std::string::npos)
    return "give harn an AppArmor profile with the rule 'userns,', or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0";
  if (!verdict.usable) return "use a kernel with CONFIG_USER_NS";
  return {};
}

std::string landlock_remedy() {
  const long answer = ::syscall(sys::uapi::landlock_create_ruleset_number, nullptr, 0, sys::uapi::landlock_create_ruleset_version);
  if (answer < 0 && errno == EOPNOTSUPP)
    return "Landlock is built in and switched off: add 'landlock' to the lsm= list of the kernel command line";
  return "use Linux 5.13 or later with CONFIG_SECURITY_LANDLOCK; in a container, a seccomp profile that allows the landlock calls";
}

}  // namespace harn::prove
