// SPDX-License-Identifier: Apache-2.0
// Where a command goes, and when it may not go anywhere.
#include "plan/route.h"

#include "base/text.h"
#include "plan/coverage.h"
#include "plan/names.h"

namespace harn {

Result<Fallback> parse_fallback(std::optional<std::string_view> text) {
  if (!text || text->empty()) return Fallback::warn;
  if (const auto value = base::enum_value<Fallback>(*text)) return *value;
  return fail(Error{.code = ErrorCode::invalid_policy,
                    .stage = Stage::load,
                    .message = "HARN_HANDLER_SANDBOX is " + base::quoted(*text),
                    .hint = "use off, warn or enforce, or unset it"});
}

namespace plan {
namespace {

bool must_confine(const PlanOptions& options) { return options.least_profile.value_or(Profile::unrestricted) != Profile::unrestricted; }

std::string list_of(const std::vector<Dimension>& dimensions) {
  std::vector<std::string> names;
  for (const auto dimension : dimensions) names.emplace_back(base::enum_name(dimension));
  return base::join(names, ", ");
}

std::string first_remedy(const Coverage& coverage, const std::vector<Dimension>& dimensions) {
  for (const auto& gap : coverage.gaps)
    for (const auto dimension : dimensions)
      if (gap.dimension == dimension && !gap.remedy.empty()) return gap.remedy;
  return {};
}

std::string tried_text(const std::vector<TriedBackend>& tried) {
  std::vector<std::string> lines;
  for (const auto& entry : tried) lines.push_back(std::string(base::enum_name(entry.backend)) + ": " + entry.why_not);
  return base::join(lines, "; ");
}

Refusal refusal_for(const Plan& plan, std::vector<Dimension> open, std::string requirement) {
  const bool nothing = plan.backend == Backend::noop;
  Refusal out;
  out.mechanism = nothing ? "none" : std::string(base::enum_name(plan.backend));
  out.availability = nothing ? "absent_on_host" : "does_not_confine";
  out.profile = plan.profile;
  out.requirement = std::move(requirement);
  out.tried = plan.tried;
  out.message = nothing ? "no way to confine the command works on this host"
                        : "backend '" + out.mechanism + "' cannot enforce " + list_of(open) + " on this host";
  if (!plan.tried.empty()) out.message += " (tried " + tried_text(plan.tried) + ")";
  out.message += out.requirement == "profile"   ? "; profile '" + std::string(base::enum_name(plan.profile)) + "' requires it"
                 : out.requirement == "ceiling" ? "; the system's ceiling requires it"
                                                : "; HARN_HANDLER_SANDBOX=enforce requires it";
  out.hint = first_remedy(plan.coverage, open);
  if (out.hint.empty())
    out.hint = plan.profile == Profile::wasi  ? "a module's runtime is only run where it can be confined; see 'harn doctor'"
               : out.requirement == "profile" ? "'harn plan' names the gaps; profile 'worktree' accepts them"
                                              : "'harn plan' names the gaps; HARN_HANDLER_SANDBOX=warn accepts them";
  out.dimensions = std::move(open);
  return out;
}

}  // namespace

Status check_ceiling(const Policy& policy, const PlanOptions& options) {
  const auto refuse = [](std::string message, std::string hint) {
    return fail(Error{.code = ErrorCode::refused, .stage = Stage::plan, .message = std::move(message), .hint = std::move(hint)});
  };
  if (!options.least_profile) return {};
  const auto least = std::string(base::enum_name(*options.least_profile));
  if (policy.profile() < *options.least_profile)
    return refuse("profile '" + std::string(base::enum_name(policy.profile())) + "' is weaker than '" + least +
                      "', which the system's ceiling requires",
                  "ask for no profile, or for '" + least + "'");
  if (must_confine(options) && route_of(policy, options) == Route::direct)
    return refuse(
        "the command would run without a sandbox, and the system's ceiling requires profile '" + least + "'",
        options.no_sandbox ? "leave --no-sandbox and --sandbox none out" : "unset HARN_HANDLER_SANDBOX, or set it to warn or enforce");
  return {};
}

Route route_of(const Policy& policy, const PlanOptions& options) {
  if (policy.profile() == Profile::wasi) return Route::wasi;  // never the host's, whatever is switched off
  if (options.no_sandbox || policy.profile() == Profile::unrestricted) return Route::direct;
  if (options.fallback == Fallback::off && policy.profile() == Profile::worktree) return Route::direct;
  return Route::confined;
}

void apply_gate(const Policy& policy, const PlanOptions& options, Plan& plan) {
  if (plan.route != Route::confined) return;
  auto open = holes(plan.coverage);
  if (open.empty()) return;
  const bool strict = policy.profile() >= Profile::wasi;  // what is above worktree accepts no hole
  const bool bound = plan.backend == Backend::noop && must_confine(options);
  if (!strict && !bound && options.fallback != Fallback::enforce) {
    if (plan.backend != Backend::noop) return;
    plan.route = Route::direct;
    plan.notes.push_back("running without confinement: no backend works on this host (" + tried_text(plan.tried) + ")");
    return;
  }
  plan.refusal = refusal_for(plan, std::move(open), strict ? "profile" : bound ? "ceiling" : "fallback");
  plan.route = Route::refused;
}

}  // namespace plan
}  // namespace harn
