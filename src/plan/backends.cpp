// SPDX-License-Identifier: Apache-2.0
// The table of backends. The order of rows is the order of the automatic choice.
#include "plan/coverage.h"
#include "plan/route.h"

namespace harn::plan {
namespace {

std::string why_no_native(const HostFacts& facts) {
  if (facts.linux.landlock_abi >= 1 || facts.linux.user_namespaces) return {};
  return "no Landlock, and user namespaces are not usable" +
         (facts.linux.why_no_user_namespaces.empty() ? std::string() : ": " + facts.linux.why_no_user_namespaces);
}

std::string why_no_tool(const HostFacts& facts, const std::string& name) {
  const auto it = facts.tools.find(name);
  if (it == facts.tools.end()) return name + " is not installed";
  if (it->second.works) return {};
  return name + " does not work here" + (it->second.why_not.empty() ? std::string() : ": " + it->second.why_not);
}

std::string why_no_bubblewrap(const HostFacts& facts) { return why_no_tool(facts, "bubblewrap"); }
std::string why_no_firejail(const HostFacts& facts) { return why_no_tool(facts, "firejail"); }
std::string why_no_docker(const HostFacts& facts) { return why_no_tool(facts, "docker"); }
std::string why_no_podman(const HostFacts& facts) { return why_no_tool(facts, "podman"); }
std::string why_no_seatbelt(const HostFacts& facts) { return why_no_tool(facts, "sandbox-exec"); }
// Both belong to the kernel, so that only one that was tried and does not hold is no backend.
std::string why_no_pledge(const HostFacts& facts) {
  for (const auto* call : {"unveil", "pledge"})
    if (facts.tools.contains(call) && !facts.tools.at(call).works) return why_no_tool(facts, call);
  return {};
}
// Facts that were written down need not say it; where a host was asked, its answer counts.
std::string why_no_appcontainer(const HostFacts& facts) {
  return facts.tools.contains("appcontainer") ? why_no_tool(facts, "appcontainer") : std::string();
}
std::string always_usable(const HostFacts&) { return {}; }

constexpr BackendRow table[] = {
    // backend            platform           auto   why_unusable        lower
    {Backend::linux, Platform::linux, true, why_no_native, lower_linux},
    {Backend::bubblewrap, Platform::linux, true, why_no_bubblewrap, lower_bubblewrap},
    {Backend::firejail, Platform::linux, true, why_no_firejail, lower_firejail},
    {Backend::docker, Platform::linux, true, why_no_docker, lower_docker},
    {Backend::podman, Platform::linux, true, why_no_podman, lower_podman},
    {Backend::macos, Platform::macos, true, why_no_seatbelt, lower_seatbelt},
    {Backend::windows, Platform::windows, true, why_no_appcontainer, lower_appcontainer},
    {Backend::openbsd, Platform::openbsd, true, why_no_pledge, lower_pledge_unveil},
    {Backend::noop, Platform::linux, false, always_usable, lower_noop},
};

}  // namespace

std::span<const BackendRow> backends() { return table; }

const BackendRow& row_of(Backend backend) {
  for (const auto& row : table)
    if (row.backend == backend) return row;
  return table[std::size(table) - 1];
}

// Confines nothing and says so: every requested dimension stays unclaimed and settles as not enforced.
Status lower_noop(const PlanInput&, Plan& plan) {
  plan.confinement = NoConfinement{};
  return {};
}

}  // namespace harn::plan
