// SPDX-License-Identifier: Apache-2.0
// harn doctor on Windows: tries to confine a command, and says what a policy would get.
#include "cli/render_doctor.h"
#include "cli/verbs.h"
#include "cli/windows/prepare.h"
#include "harn/probe.h"
#include "harn/prove.h"

namespace harn::cli {

Result<Reply> doctor_verb(const Arguments& arguments, const Caller& caller) {
  auto facts = probe_host({.environment = caller.environment, .cwd = caller.cwd});
  HARN_TRY(proved, prove_host(facts));
  facts.tools = proved.tools;
  HostPicture picture{.facts = facts, .findings = proved.findings, .colour = caller.colour};
  Policy policy;
  look_at_paths(facts, policy);
  for (const auto profile : {Profile::worktree, Profile::os_hardened}) {
    policy.sandbox_profile = profile;
    auto plan = make_plan(policy, {.argv = {"cmd"}}, facts);
    if (plan) picture.profiles.push_back({.profile = profile, .plan = std::move(*plan)});
    else picture.profiles.push_back({.profile = profile, .problem = plan.error().message});
  }
  return Reply{.exit_code = sandbox_backend_available(facts) ? 0 : exit_no,
               .out = arguments.has("json") ? json_of(picture) : picture_of(picture)};
}

}  // namespace harn::cli
