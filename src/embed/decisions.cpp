// SPDX-License-Identifier: Apache-2.0
#include "embed/decisions.h"

#include <algorithm>
#include <functional>

#include "audit/event.h"
#include "plan/coverage.h"
#include "plan/names.h"
#include "policy/env_rules.h"
#include "policy/names.h"

namespace harn::embed {
namespace {

base::Array dimension_names(const Coverage& coverage, Enforcement status) {
  base::Array out;
  for (const auto dimension : plan::dimensions_with(coverage, status)) out.emplace_back(base::enum_name(dimension));
  return out;
}

base::Array tried(const std::vector<TriedBackend>& backends) {
  base::Array out;
  for (const auto& row : backends) {
    base::Value entry;
    entry.set("backend", base::enum_name(row.backend));
    entry.set("why_not", redacted_text(row.why_not));
    out.push_back(std::move(entry));
  }
  return out;
}

}  // namespace

std::vector<AuditEvent> policy_events(const Policy& policy, const Loaded& loaded) {
  base::Value data;
  data.set("policy_digest", digest(policy));
  data.set("profile", base::enum_name(policy.profile()));
  data.set("sources", audit::redacted_list(loaded.sources));
  std::vector<AuditEvent> events = {audit::make_event(AuditEventType::policy_loaded, data)};
  if (loaded.narrowings.empty()) return events;
  base::Value narrowed;
  narrowed.set("policy_digest", *data.find("policy_digest"));
  narrowed.set("taken", audit::redacted_list(loaded.narrowings));
  events.push_back(audit::make_event(AuditEventType::policy_narrowed, narrowed));
  return events;
}

std::vector<AuditEvent> plan_events(const Plan& plan, const PlanOptions& options) {
  base::Value data;
  // Digesting costs as much as planning: of what runs it is done while it runs, and stands in exec_finished.
  if (plan.route == Route::refused) data.set("plan_digest", digest(plan));
  data.set("policy_digest", plan.policy_digest);
  data.set("backend", base::enum_name(plan.backend));
  data.set("route", base::enum_name(plan.route));
  data.set("profile", base::enum_name(plan.profile));
  data.set("not_enforced", dimension_names(plan.coverage, Enforcement::not_enforced));
  data.set("degraded", dimension_names(plan.coverage, Enforcement::degraded));
  if (options.no_sandbox) data.set("no_sandbox", true);
  std::vector<AuditEvent> events = {audit::make_event(AuditEventType::plan_made, data)};
  const bool open = plan.route == Route::direct && plan.profile != Profile::unrestricted;
  if (!options.no_sandbox && plan.tried.empty() && !open) return events;
  base::Value fallback;
  fallback.set("to", open || options.no_sandbox ? "nothing" : base::enum_name(plan.backend));
  fallback.set("reason", options.no_sandbox ? "--no-sandbox" : options.fallback == Fallback::off ? "HARN_HANDLER_SANDBOX" : "host");
  fallback.set("tried", tried(plan.tried));
  events.push_back(audit::make_event(AuditEventType::sandbox_fallback, fallback));
  return events;
}

AuditEvent refusal_event(const Error& error, const std::vector<std::string>& argv, const std::vector<std::string>& secrets) {
  base::Value data;
  data.set("code", name_of(error.code));
  data.set("stage", name_of(error.stage));
  data.set("message", redacted_text(error.message, secrets));
  base::Array words;
  for (auto& word : redacted_words(argv, secrets)) words.emplace_back(std::move(word));
  data.set("argv", std::move(words));
  return audit::make_event(AuditEventType::sandbox_refused, data);
}

std::vector<std::string> secrets_in(const std::vector<RemovedVariable>& withheld, const Environment& environment) {
  std::vector<std::string> values;
  for (const auto& removed : withheld)
    if (const auto found = environment.find(removed.name); found != environment.end()) values.push_back(found->second);
  for (const auto& [name, value] : environment)
    if (policy::always_stripped(name) || !policy::secret_pattern(name).empty()) values.push_back(value);
  // A secret may be a part of another one.
  std::ranges::sort(values, std::greater(), &std::string::size);
  return values;
}

}  // namespace harn::embed
