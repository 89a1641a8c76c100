// SPDX-License-Identifier: Apache-2.0

#include "prove/mechanisms.h"
#include "prove/outside_listeners.h"
#include "prove/remedies.h"

namespace harn::prove {

Finding prove_view(const ProvingGround& ground, LinuxFacts& facts) {
  Finding finding{.mechanism = "view"};
  auto alone = facts;
  alone.landlock_abi = 0;
  alone.seccomp = alone.network_namespaces = false;
  alone.user_namespaces = alone.pid_namespaces = true;
  const auto status = ground.run_small(alone);
  facts.user_namespaces = facts.pid_namespaces = finding.works = status.has_value();
  if (status) {
    finding.how = "a command in user, mount and pid namespaces of its own ran, wrote in its workspace, and found a file outside missing";
    return finding;
  }
  finding.why_not = facts.why_no_user_namespaces = status.error().message;
  finding.remedy = view_remedy(status.error(), ground.facts().uid);
  return finding;
}

Finding prove_network_namespace(const ProvingGround& ground, LinuxFacts& facts) {
  Finding finding{.mechanism = "network_namespace"};
  if (!facts.user_namespaces) {
    finding.why_not = "it needs a user namespace";
    return finding;
  }
  auto alone = facts;
  alone.landlock_abi = 0;
  alone.seccomp = false;
  alone.network_namespaces = true;
  const auto plan = ground.small_plan(alone, Backend::linux, /*loopback=*/true);
  const OutsideListeners outside(ground.root());
  auto trials = provable({outside.connect_tcp(), outside.connect_abstract()});
  const bool tried = !trials.empty();
  const Status status = plan ? try_layers(*plan, std::move(trials)) : Status(fail(plan.error()));
  facts.network_namespaces = finding.works = status.has_value();
  if (status) {
    finding.how = tried ? "a command in a network namespace of its own could not reach listeners outside; its loopback came up"
                        : "a network namespace was made and its loopback came up; nothing outside was there to be tried";
    return finding;
  }
  finding.why_not = status.error().message;
  finding.remedy = "allow this user network namespaces (user.max_net_namespaces, the container's seccomp profile)";
  return finding;
}

Finding prove_together(const ProvingGround& ground, LinuxFacts& facts) {
  Finding finding{.mechanism = "together"};
  if (!facts.user_namespaces && facts.landlock_abi < 1) {
    finding.why_not = "neither a view nor Landlock works";
    return finding;
  }
  const auto status = ground.run_small(facts);
  finding.works = status.has_value();
  if (status) {
    finding.how = "a command under all of these layers at once ran, wrote in its workspace, and could not read a file outside";
    return finding;
  }
  finding.why_not = status.error().message;
  finding.remedy = "please report this with the output of 'harn doctor --json'";
  facts.why_no_user_namespaces = "the layers do not work together: " + status.error().message;
  facts.user_namespaces = facts.pid_namespaces = facts.network_namespaces = false;
  return finding;
}

}  // namespace harn::prove
