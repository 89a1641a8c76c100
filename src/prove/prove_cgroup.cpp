// SPDX-License-Identifier: Apache-2.0
// Control groups: one is made where this process stands, a child joins it, and it is removed again.
#include <fcntl.h>

#include <fmt/format.h>

#include "prove/mechanisms.h"
#include "run/cgroup.h"
#include "run/run_id.h"
#include "sys/cgroup_places.h"

namespace harn::prove {
namespace {

// The driver a run would use, with values no child comes near.
Status try_groups(const ProvingGround& ground, const sys::CgroupPlaces& places) {
  const bool v2 = places.kind == CgroupKind::v2;
  HARN_TRY(group,
           run::Cgroup::make(places, {.run_id = run::make_run_id(),
                                      .values = {{v2 ? "memory.max" : "memory.limit_in_bytes", "1073741824"}, {"pids.max", "100"}}}));
  auto plan = ground.bare_plan({});
  plan.confinement = NoConfinement{};
  const sys::UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const int fd = nothing.get();
  HARN_TRY(prepared, run::prepare(plan, {.stdio = {fd, fd, fd}, .cgroups = group.join_files()}));
  HARN_TRY(process, run::spawn(std::move(prepared)));
  return {};
}

}  // namespace

Finding prove_cgroup(const ProvingGround& ground, LinuxFacts& facts) {
  Finding finding{.mechanism = "cgroup", .remedy = "run harn in a delegated group: systemd-run --user --scope -p Delegate=yes harn …"};
  facts.cgroup = CgroupKind::none;
  const auto places = sys::find_cgroup_places();
  const auto kind = places.kind;
  if (kind == CgroupKind::none) {
    finding.why_not = "this user may not make groups with memory and pids controllers where it stands";
    return finding;
  }
  if (const auto status = try_groups(ground, places); !status) {
    finding.why_not = status.error().message;
    return finding;
  }
  facts.cgroup = kind;
  finding.works = true;
  finding.how = fmt::format("a group was made in cgroup {}, a child joined it, and it was removed", kind == CgroupKind::v2 ? "v2" : "v1");
  finding.remedy.clear();
  return finding;
}

}  // namespace harn::prove
