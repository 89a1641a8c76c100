// SPDX-License-Identifier: Apache-2.0
#include "cli/run_audit.h"

#include <tuple>

#include <fmt/format.h>

#include "cli/load.h"
#include "embed/decisions.h"

namespace harn::cli {

RunAudit::RunAudit(const Arguments& arguments, const Caller& caller) : caller_(caller) {
  if (const auto* mode = arguments.value("audit")) asked_ = parse_audit_mode(*mode);
}

AuditMode RunAudit::mode() const {
  if (asked_) return *asked_;
  return settings_.mode.value_or(hardened_ ? AuditMode::power : AuditMode::process);
}

void RunAudit::use_policy(const Prepared& prepared) {
  hardened_ = prepared.policy.profile() == Profile::os_hardened;
  if (mode() != AuditMode::off) decided_ = embed::policy_events(prepared.policy, prepared.loaded);
}

void RunAudit::use_plan(const Plan& plan, const PlanOptions& options) {
  if (mode() == AuditMode::off) return;
  for (auto& event : embed::plan_events(plan, options)) decided_.push_back(std::move(event));
  secrets_ = embed::secrets_in(plan.env.removed, caller_.environment);
}

void RunAudit::fill(RunOptions& options) {
  if (mode() == AuditMode::off) return;
  if (run_id_.empty()) run_id_ = make_run_id();
  options.run_id = run_id_;
  options.audit = this;
  options.decided = decided_;
  options.secrets = secrets_;
}

void RunAudit::refused(const Error& error, const std::vector<std::string>& argv) {
  if (mode() == AuditMode::off || error.stage == Stage::cli || handed_over_ || failed_) return;
  if (secrets_.empty()) secrets_ = embed::secrets_in({}, caller_.environment);
  decided_.push_back(embed::refusal_event(error, argv, secrets_));
  std::ignore = append(decided_);  // said already, and nothing runs either way
}

Status RunAudit::append(std::span<const AuditEvent> events) {
  for (const auto& event : events) handed_over_ = handed_over_ || event.type == AuditEventType::exec_started;
  if (run_id_.empty()) run_id_ = make_run_id();
  if (!log_)
    log_ = AuditLog::open({.directory = audit_directory(caller_), .session_id = run_id_, .durability = mode(), .settings = settings_});
  auto kept = log_->append(events);
  if (kept || failed_) return kept;
  failed_ = true;
  const auto last = events.back().type;
  // What does not start for this reason is told by the refusal itself.
  if (hardened_ && last == AuditEventType::exec_started) return kept;
  caller_.tell(fmt::format("harn: warning: {} is not recorded: {}{}\n",
                           last == AuditEventType::exec_finished ? "the end of this run" : "this run", kept.error().message,
                           kept.error().hint.empty() ? "" : fmt::format(" ({})", kept.error().hint)));
  return kept;
}

}  // namespace harn::cli
