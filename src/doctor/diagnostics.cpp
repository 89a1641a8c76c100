// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/enum_names.h"
#include "harn/doctor.h"
#include "plan/names.h"
#include "plan/route.h"
#include "policy/names.h"

namespace harn {

bool SandboxReport::holds() const {
  return std::ranges::none_of(measurements, [](const Measurement& m) {
    return m.verdict == Verdict::escaped || m.verdict == Verdict::overrefused || m.verdict == Verdict::probe_broken;
  });
}

std::string sandbox_active_backend(const HostFacts& facts) {
  for (const auto& row : plan::backends())
    if (row.in_auto && row.platform == facts.platform && row.why_unusable(facts).empty()) return std::string(base::enum_name(row.backend));
  return std::string(base::enum_name(Backend::noop));
}

bool sandbox_backend_available(const HostFacts& facts) { return sandbox_active_backend(facts) != base::enum_name(Backend::noop); }

std::string sandbox_active_profile(const Policy* policy) {
  return std::string(base::enum_name(policy == nullptr ? Profile::unrestricted : policy->profile()));
}

}  // namespace harn
