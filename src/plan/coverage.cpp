// SPDX-License-Identifier: Apache-2.0
#include "plan/coverage.h"

#include <algorithm>

namespace harn::plan {
namespace {

Enforcement worse(Enforcement a, Enforcement b) { return std::min(a, b); }

bool network_is_open(const Policy& policy) {
  const auto& network = policy.effective_network();
  return network.mode == NetworkMode::unrestricted && network.blocked_ports.empty();
}

}  // namespace

bool requested(const Policy& policy, Dimension dimension) {
  const auto& limits = policy.limits;
  switch (dimension) {
    case Dimension::network: return !network_is_open(policy);
    case Dimension::memory: return limits.max_memory_mb.has_value();
    case Dimension::cpu: return limits.max_cpu_seconds || limits.cpu_milli;
    case Dimension::processes: return limits.max_processes.has_value();
    case Dimension::file_size: return limits.max_file_size_mb.has_value();
    case Dimension::wall_time: return limits.wall_time || limits.idle_timeout;
    default: return true;
  }
}

void enforced_by(Coverage& coverage, Dimension dimension, std::string layer) {
  auto& entry = coverage[dimension];
  if (entry.status == Enforcement::not_requested) entry.status = Enforcement::enforced;
  if (std::find(entry.layers.begin(), entry.layers.end(), layer) == entry.layers.end()) entry.layers.push_back(std::move(layer));
}

void open_gap(Coverage& coverage, Gap gap, Enforcement severity) {
  auto& entry = coverage[gap.dimension];
  entry.status = entry.status == Enforcement::not_requested ? severity : worse(entry.status, severity);
  if (entry.reason.empty()) entry.reason = gap.detail;
  else if (entry.reason.find(gap.detail) == std::string::npos) entry.reason += "; " + gap.detail;
  std::sort(gap.paths.begin(), gap.paths.end());
  coverage.gaps.push_back(std::move(gap));
}

void settle(Coverage& coverage, const Policy& policy, std::string_view why_not) {
  for (std::size_t i = 0; i < dimension_count; ++i) {
    const auto dimension = static_cast<Dimension>(i);
    auto& entry = coverage[dimension];
    if (!requested(policy, dimension)) {
      entry = {};
      std::erase_if(coverage.gaps, [&](const Gap& gap) { return gap.dimension == dimension; });
    } else if (entry.status == Enforcement::not_requested) {
      entry.status = Enforcement::not_enforced;
      entry.reason = why_not;
    }
  }
}

std::vector<Dimension> dimensions_with(const Coverage& coverage, Enforcement status) {
  std::vector<Dimension> out;
  for (std::size_t i = 0; i < dimension_count; ++i)
    if (coverage.dimensions[i].status == status) out.push_back(static_cast<Dimension>(i));
  return out;
}

std::vector<Dimension> holes(const Coverage& coverage) { return dimensions_with(coverage, Enforcement::not_enforced); }

}  // namespace harn::plan
