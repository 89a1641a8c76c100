// SPDX-License-Identifier: Apache-2.0
#include "sandbox/receipt.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/enum_names.h"
#include "plan/names.h"
#include "policy/names.h"

namespace harn::sandbox {
namespace {

Proof proof_of(const DimensionCoverage& coverage, bool proved) {
  switch (coverage.status) {
    case Enforcement::not_requested: return Proof::not_requested;
    case Enforcement::not_enforced:
    case Enforcement::degraded: return Proof::gap;
    case Enforcement::enforced: break;
  }
  return proved ? Proof::proved : Proof::assumed;
}

std::map<std::string, std::string> layers_of(const Plan& plan) {
  std::map<std::string, std::string> layers;
  if (const auto* linux = std::get_if<LinuxConfinement>(&plan.confinement)) {
    if (linux->view) layers["view"] = fmt::format("{}", fmt::join(linux->view->namespaces, " "));
    if (linux->landlock) layers["landlock"] = fmt::format("ABI {}", linux->landlock->abi);
    if (linux->syscalls) layers["seccomp"] = linux->syscalls->arch;
    if (linux->supervisor)
      layers["supervisor"] = !linux->supervisor->decides ? "explains" : linux->supervisor->reads ? "changes and reads" : "changes";
    if (linux->no_new_privileges) layers["no_new_privileges"] = "on";
    if (linux->drop_capabilities) layers["capabilities"] = "none";
  } else if (const auto* wrapper = std::get_if<Wrapper>(&plan.confinement)) {
    layers[std::string(base::enum_name(plan.backend))] = wrapper->argv.empty() ? "" : wrapper->argv.front();
    if (wrapper->syscalls) layers["seccomp"] = wrapper->syscalls->arch;
  } else if (const auto* pledged = std::get_if<PledgeUnveil>(&plan.confinement)) {
    layers["unveil"] = fmt::format("{} paths, locked", pledged->unveils.size());
    layers["pledge"] = fmt::format("{}", fmt::join(pledged->exec_promises, " "));
  }
  if (const auto* container = std::get_if<AppContainer>(&plan.confinement)) {
    layers["appcontainer"] =
        container->capability_sids.empty() ? "no capabilities" : fmt::format("{}", fmt::join(container->capability_sids, " "));
    layers["acl"] = fmt::format("{} entries", container->grants.size());
    layers["job"] = fmt::format("{}", fmt::join(container->job_flags, " "));
  }
  if (plan.egress) layers["relay"] = "a confined process of its own";
  if (!plan.limits.cgroup.empty()) layers["cgroup"] = "on";
  return layers;
}

}  // namespace

Receipt make_receipt(const Plan& plan, std::span<const Dimension> proved) {
  Receipt receipt{.policy_digest = plan.policy_digest,
                  .plan_digest = digest(plan),
                  .backend = std::string(base::enum_name(plan.backend)),
                  .profile = std::string(base::enum_name(plan.profile)),
                  .host = plan.host,
                  .layers = layers_of(plan),
                  .gaps = plan.coverage.gaps,
                  .fallbacks = plan.tried,
                  .env_removed = plan.env.removed};
  for (std::size_t i = 0; i < dimension_count; ++i) {
    const auto dimension = static_cast<Dimension>(i);
    const auto& coverage = plan.coverage[dimension];
    const bool tried = std::ranges::find(proved, dimension) != proved.end();
    receipt.dimensions.push_back({.dimension = dimension,
                                  .requested = coverage.status != Enforcement::not_requested,
                                  .effective = coverage.status,
                                  .proof = proof_of(coverage, tried),
                                  .layers = coverage.layers,
                                  .reason = coverage.reason});
  }
  return receipt;
}

}  // namespace harn::sandbox
