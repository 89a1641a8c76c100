// SPDX-License-Identifier: Apache-2.0
#include "confine/support/ways.h"

#include <unistd.h>

#include <fmt/format.h>

#include "harn/path.h"
#include "harn/probe.h"

namespace harn::confine {
namespace {

constexpr uid_t nobody = 65534;

}  // namespace

std::vector<Stand> stands() {
  std::vector<uid_t> callers = {::getuid()};
  if (callers.front() == 0) callers.push_back(nobody);
  std::vector<Stand> out;
  for (const auto uid : callers)
    for (const auto way : {Way::unconfined, Way::view, Way::bare, Way::old_kernel, Way::unsupervised, Way::explained, Way::nested,
                           Way::bubblewrap, Way::without_view, Way::without_landlock, Way::without_seccomp})
      // The layers are those of the view, tried as both; that explaining opens nothing is seen as one.
      if (way != Way::explained || uid == callers.back()) out.push_back({way, uid});
  return out;
}

std::string missing_here(Way way) {
  const auto facts = probe_host({.environment = {}, .cwd = AbsPath::of("/")});
  if (facts.linux.landlock_abi < 6) return fmt::format("landlock: ABI {} is below 6", facts.linux.landlock_abi);
  if (!facts.linux.seccomp) return "seccomp: not in this kernel";
  if (!facts.linux.user_namespaces && way != Way::bare && way != Way::old_kernel && way != Way::unsupervised && way != Way::unconfined)
    return "userns: " + facts.linux.why_no_user_namespaces;
  if (way == Way::bubblewrap && !facts.tools.contains("bubblewrap")) return "bubblewrap: not installed";
  return {};
}

std::string backend_of(Way way) { return way == Way::bubblewrap ? "bubblewrap" : "linux"; }

void add_environment(Way way, std::map<std::string, std::string>& environment) {
  if (way == Way::bare) environment["HARN_PRETEND"] = "userns=no";
  if (way == Way::old_kernel) environment["HARN_PRETEND"] = "userns=no,landlock=1";
  if (way == Way::unsupervised) environment["HARN_PRETEND"] = "userns=no,notify=no";
}

}  // namespace harn::confine
