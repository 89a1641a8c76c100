// SPDX-License-Identifier: Apache-2.0
#include "plan/coarse_gaps.h"

#include "plan/coverage.h"
#include "plan/linux/network_reach.h"

namespace harn::plan {

void open_gap_at(Coverage& coverage, Gap gap, Enforcement severity) {
  if (!gap.paths.empty()) open_gap(coverage, std::move(gap), severity);
}

void cover_unguarded_names(std::vector<AbsPath> paths, Coverage& coverage) {
  open_gap_at(coverage,
              {.dimension = Dimension::writes,
               .code = "absent_protected_name",
               .paths = std::move(paths),
               .detail = "some protected names that do not exist yet can be created",
               .remedy = {}},
              Enforcement::degraded);
}

void cover_absent_denials(const PathRules& rules, const std::vector<AbsPath>& paths, Coverage& coverage) {
  Gap other{.dimension = Dimension::reads,
            .code = "absent_denied_name",
            .paths = {},
            .detail = "a denied path that does not exist yet would be readable if it were created during the run",
            .remedy = {}};
  Gap credentials = other;
  credentials.dimension = Dimension::credential_reads;
  for (const auto& path : paths) (rules.nearest(path)->origin == Origin::credential ? credentials : other).paths.push_back(path);
  open_gap_at(coverage, std::move(other), Enforcement::degraded);
  open_gap_at(coverage, std::move(credentials), Enforcement::degraded);
}

void cover_movable(std::vector<AbsPath> paths, Coverage& coverage) {
  open_gap_at(coverage,
              {.dimension = Dimension::writes,
               .code = "ancestor_rename",
               .paths = std::move(paths),
               .detail = "a directory around a protected name can be moved away and made again without it",
               .remedy = {}},
              Enforcement::not_enforced);
}

void cover_joint_deletes(const PathRules& rules, Coverage& coverage) {
  const bool writes = rules.writes_allowed();
  if (writes == rules.removes_allowed()) return;
  Gap gap{.dimension = Dimension::writes,
          .code = "delete_not_separable",
          .paths = {},
          .detail = writes ? "what may be written can be deleted as well"
                           : "deleting cannot be granted without writing, so nothing can be deleted",
          .remedy = "grant both workspace.write_text and workspace.delete"};
  for (const auto& rule : rules.rules())
    if (rule.access == Access::write && rule.kind != PathKind::missing && rule.origin != Origin::device) gap.paths.push_back(rule.path);
  open_gap_at(coverage, std::move(gap), writes ? Enforcement::not_enforced : Enforcement::degraded);
}

void cover_whole_network(const Policy& policy, std::string layer, std::string_view mechanism, Coverage& coverage) {
  const auto reach = network_reach(policy);
  const auto& network = policy.effective_network();
  const std::string subject(mechanism);
  enforced_by(coverage, Dimension::network, std::move(layer));
  if (reach == NetworkReach::restricted)
    open_gap(coverage,
             {.dimension = Dimension::network,
              .code = "per_host_network",
              .paths = {},
              .detail = subject + " opens all hosts or none, so the whole network stays closed",
              .remedy = "set network.mode = \"unrestricted\", or run on Linux"},
             Enforcement::not_enforced);
  if (reach == NetworkReach::unrestricted && !network.blocked_ports.empty())
    open_gap(coverage,
             {.dimension = Dimension::network,
              .code = "blocked_ports",
              .paths = {},
              .detail = subject + " cannot close single ports",
              .remedy = "block them in the host's firewall"},
             Enforcement::not_enforced);
  if (reach != NetworkReach::unrestricted && network.loopback)
    open_gap(coverage,
             {.dimension = Dimension::network,
              .code = "loopback_only",
              .paths = {},
              .detail = subject + " cannot open loopback alone, so it stays closed",
              .remedy = "set network.loopback = false"},
             Enforcement::degraded);
}

}  // namespace harn::plan
