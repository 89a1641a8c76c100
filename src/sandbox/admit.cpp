// SPDX-License-Identifier: Apache-2.0
#include "sandbox/admit.h"

#include <algorithm>

namespace harn::sandbox {

Status check_admitted(const Plan& plan) {
  if (plan.route == Route::refused)
    return fail(Error{.code = ErrorCode::refused,
                      .stage = Stage::plan,
                      .message = plan.refusal ? plan.refusal->message : "the plan may not run",
                      .hint = plan.refusal ? plan.refusal->hint : ""});
  // Closed is not what was asked for either: a command that may reach one host would fail in ways nobody could explain.
  const auto gap = std::ranges::find(plan.coverage.gaps, "per_host_network", &Gap::code);
  if (gap == plan.coverage.gaps.end()) return {};
  return fail(Error{.code = ErrorCode::not_supported,
                    .stage = Stage::prepare,
                    .message = "the network cannot be opened to named hosts only: " + gap->detail,
                    .hint = "leave the hosts out (--allow-host, network.allowed_hosts), or open the whole network with --net allowed"});
}

}  // namespace harn::sandbox
