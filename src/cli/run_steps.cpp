// SPDX-License-Identifier: Apache-2.0
#include "cli/run_steps.h"

#include "policy/egress_environment.h"

namespace harn::cli {

int exit_code_of(const Outcome& outcome) {
  if (!outcome.error.empty()) return exit_refused;
  if (outcome.timed_out && !outcome.cpu_exceeded) return exit_timeout;
  return outcome.exit_code < 0 ? exit_signal_base - outcome.exit_code : outcome.exit_code;
}

std::vector<std::string> named_resolvers(const Caller& caller) { return policy::egress_resolvers(caller.environment); }

}  // namespace harn::cli
