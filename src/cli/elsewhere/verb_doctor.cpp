// SPDX-License-Identifier: Apache-2.0
// harn doctor on macOS and OpenBSD: tries anew what this host can enforce, and what that means for the policy.
#include <fmt/format.h>

#include "base/text.h"
#include "cli/outlook.h"
#include "cli/prepare.h"
#include "cli/render_doctor.h"
#include "cli/verbs.h"
#include "harn/doctor.h"
#include "harn/probe.h"
#include "harn/prove.h"

namespace harn::cli {

Result<Reply> doctor_verb(const Arguments& arguments, const Caller& caller) {
  if (!arguments.operands().empty())
    return wrong_usage(fmt::format("harn doctor cannot look at {} on this system", base::quoted(arguments.operands().front())),
                       "the attacks of 'harn doctor sandbox' are for Linux; 'harn doctor' tries every mechanism here");
  auto facts = probe_host({.environment = caller.environment, .cwd = caller.cwd});
  HARN_TRY(proved, prove_host(facts));
  facts.tools = proved.tools;
  const auto prepared = prepare(arguments, caller);
  HostPicture picture{.facts = facts, .findings = proved.findings, .colour = caller.colour};
  if (prepared) {
    for (const auto profile : {Profile::worktree, Profile::os_hardened}) picture.profiles.push_back(outlook(*prepared, profile));
    picture.active_profile = sandbox_active_profile(&prepared->policy);
  } else {
    picture.problem = describe(prepared.error());
  }
  const bool confines = sandbox_backend_available(facts);
  return Reply{.exit_code = confines ? 0 : exit_no, .out = arguments.has("json") ? json_of(picture) : picture_of(picture)};
}

}  // namespace harn::cli
