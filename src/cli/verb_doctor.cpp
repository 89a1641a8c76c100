// SPDX-License-Identifier: Apache-2.0
// harn doctor: proves anew what this host can enforce and what that means for the policy; harn doctor
// sandbox: attacks the boundary the policy gets. And the attacks themselves, as they run inside.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/load.h"
#include "cli/outlook.h"
#include "cli/prepare.h"
#include "cli/render_doctor.h"
#include "cli/verbs.h"
#include "embed/ready.h"
#include "harn/doctor.h"
#include "harn/probe.h"
#include "harn/prove.h"
#include "plan/names.h"
#include "plan/wasi/runtimes.h"

namespace harn::cli {
namespace {

// Container engines are tried with the image a run would get, which must be there.
void examine_engines(const Caller& caller, const std::string& image, HostFacts& facts, std::vector<Finding>& findings) {
  for (const auto backend : {Backend::docker, Backend::podman}) {
    const auto name = std::string(base::enum_name(backend));
    const auto finding = std::ranges::find(findings, name, &Finding::mechanism);
    if (finding == findings.end()) continue;
    const auto status = embed::settle_named_engine(facts, {.backend = backend}, caller.environment, image);
    const bool limits = status && facts.tools[name].limits.value_or(false);
    *finding = {.mechanism = name, .works = status.has_value()};
    if (status)
      finding->how =
          fmt::format("a container of {} ran{}", base::quoted(image), limits ? ", and its limits held" : "; its limits did not hold");
    else finding->why_not = status.error().message;
    if (!status) finding->remedy = status.error().hint;
  }
}

// Every runtime for modules that is installed, tried as profile wasi would.
void examine_modules(const Caller& caller, const HostFacts& facts, std::vector<Finding>& findings) {
  for (const auto& runtime : plan::wasi_runtimes()) {
    const std::string name(runtime.name);
    auto there = facts;
    settle_wasi(there, name, facts_directory(caller));
    const auto tool = there.tools.find(name);
    if (tool == there.tools.end()) continue;
    findings.push_back({.mechanism = name, .works = tool->second.works, .why_not = tool->second.why_not});
    if (tool->second.works) findings.back().how = "a module ran in it, confined: it had what it was given, and not the file beside it";
  }
}

Result<Reply> examine_host(const Arguments& arguments, const Caller& caller) {
  const auto claimed = probe_host({.environment = caller.environment, .cwd = caller.cwd, .kernel_claims = false});
  HARN_TRY(proved, prove_host(claimed));
  remember_facts(claimed, proved, facts_directory(caller));
  HARN_TRY(facts, proved_facts(caller));
  facts.os_version = claimed.os_version;
  // The host can be looked at from anywhere, also where no policy can be put together.
  const auto prepared = prepare(arguments, caller);
  examine_engines(caller, prepared ? prepared->command.image : default_image(caller, {}), facts, proved.findings);
  examine_modules(caller, facts, proved.findings);
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

Result<Reply> examine_sandbox(const Arguments& arguments, const Caller& caller) {
  HARN_TRY(prepared, prepare(arguments, caller));
  const auto& facts = prepared.facts;
  HARN_TRY(report,
           measure_sandbox({.policy = prepared.policy,
                            .facts = facts,
                            .options = prepared.options,
                            .outside = {state_directory(caller), facts.temp, AbsPath::of("/tmp"), AbsPath::of("/var/tmp"), facts.home},
                            .environment = caller.environment,
                            .image = prepared.command.image}));
  Reply reply{.exit_code = report.holds() ? 0 : exit_no};
  reply.out = arguments.has("json") ? report_to_json(report) + "\n" : picture_of(report, caller.colour);
  return reply;
}

}  // namespace

Result<Reply> doctor_verb(const Arguments& arguments, const Caller& caller) {
  if (arguments.operands().empty()) return examine_host(arguments, caller);
  if (arguments.operands().front() == "sandbox") return examine_sandbox(arguments, caller);
  return wrong_usage(fmt::format("harn doctor cannot look at {}", base::quoted(arguments.operands().front())),
                     "use 'harn doctor' or 'harn doctor sandbox'");
}

Result<Reply> probe_verb(const Arguments& arguments, const Caller& caller) {
  auto reply = attack(arguments.operands(), caller.environment);
  return Reply{.exit_code = reply.exit_code, .out = reply.line + "\n"};
}

}  // namespace harn::cli
