// SPDX-License-Identifier: Apache-2.0
#include "sandbox/record.h"

#include <algorithm>
#include <tuple>

#include "audit/event.h"
#include "plan/names.h"
#include "policy/names.h"

namespace harn::sandbox {
namespace {

// Names of variables hold no secrets, and there are many of them; but they may be no text.
std::string name_text(const std::string& name) {
  const auto usual = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  return std::ranges::all_of(name, usual) ? name : redacted_text(name);
}

AuditEvent started(const Plan& plan, const RunOptions& options, const std::string& run_id) {
  base::Array argv;
  for (auto& word : redacted_words(plan.wasi ? plan.wasi->argv : plan.argv, options.secrets)) argv.emplace_back(std::move(word));
  base::Value data;
  data.set("run_id", run_id);
  data.set("argv", std::move(argv));
  data.set("cwd", redacted_text(plan.cwd.text()));
  data.set("backend", base::enum_name(plan.backend));
  data.set("profile", base::enum_name(plan.profile));
  if (plan.wasi) data.set("runtime", plan.wasi->runtime);
  base::Array passed;
  for (const auto& [name, value] : plan.env.variables) passed.emplace_back(name_text(name));
  data.set("env", std::move(passed));
  base::Array removed;
  for (const auto& variable : plan.env.removed) removed.emplace_back(name_text(variable.name));
  data.set("env_removed", std::move(removed));
  return audit::make_event(AuditEventType::exec_started, data);
}

AuditEvent finished(const Outcome& outcome, const std::string& plan_digest, const std::string& run_id) {
  base::Value data;
  data.set("run_id", run_id);
  data.set("plan_digest", plan_digest);
  data.set("exit_code", outcome.exit_code);
  const std::pair<std::string_view, bool> flags[] = {{"timed_out", outcome.timed_out},
                                                     {"oom_killed", outcome.oom_killed},
                                                     {"cpu_exceeded", outcome.cpu_exceeded},
                                                     {"file_size_exceeded", outcome.file_size_exceeded},
                                                     {"processes_exceeded", outcome.processes_exceeded},
                                                     {"cancelled", outcome.cancelled},
                                                     {"output_truncated", outcome.output_truncated}};
  for (const auto& [name, is_set] : flags)
    if (is_set) data.set(std::string(name), true);
  data.set("wall_ms", outcome.usage.wall_ms);
  data.set("cpu_ms", outcome.usage.cpu_ms);
  data.set("max_memory_bytes", outcome.usage.max_memory_bytes);
  if (outcome.killed_processes != 0) data.set("killed_processes", outcome.killed_processes);
  if (!outcome.appeared.empty()) data.set("appeared", audit::redacted_list(outcome.appeared));
  if (!outcome.created_trusted.empty()) data.set("created_trusted", audit::redacted_list(outcome.created_trusted));
  if (!outcome.relay_lost.empty()) data.set("relay_lost", outcome.relay_lost);
  if (!outcome.error.empty()) data.set("error", redacted_text(outcome.error));
  return audit::make_event(AuditEventType::exec_finished, data);
}

AuditEvent denied(const Denial& denial, const RunOptions& options, const std::string& run_id) {
  base::Value data;
  data.set("run_id", run_id);
  if (!denial.access.empty()) data.set("access", denial.access);
  data.set("call", denial.call);
  data.set("target", redacted_text(denial.target, options.secrets));
  data.set("rule", redacted_text(denial.rule));
  if (!denial.remedy.empty()) data.set("remedy", redacted_text(denial.remedy));
  return audit::make_event(denial.access == "host" ? AuditEventType::egress_denied : AuditEventType::denial, data);
}

AuditEvent reached(const Contact& contact, const std::string& run_id) {
  base::Value data;
  data.set("run_id", run_id);
  data.set("host", redacted_text(contact.host));
  data.set("port", contact.port);
  data.set("connections", contact.connections);
  if (contact.failed != 0) data.set("failed", contact.failed);
  data.set("sent_bytes", contact.sent_bytes);
  data.set("received_bytes", contact.received_bytes);
  return audit::make_event(AuditEventType::egress_allowed, data);
}

}  // namespace

Result<std::string> record_start(const Plan& plan, const RunOptions& options, const std::string& run_id) {
  if (options.audit == nullptr) return std::string();
  auto events = options.decided;
  events.push_back(started(plan, options, run_id));
  auto kept = options.audit->append(events);
  if (kept) return std::string();
  if (plan.profile != Profile::os_hardened) return kept.error().message;
  auto error = std::move(kept).error();
  return fail(
      Error{.code = ErrorCode::refused,
            .stage = Stage::audit,
            .os_error = error.os_error,
            .message = "under os_hardened nothing runs unrecorded: " + error.message,
            .hint = error.hint.empty() ? "make room for the audit log, or set XDG_STATE_HOME to a directory you can write" : error.hint});
}

void record_end(const RunOptions& options, Outcome& outcome, const std::string& plan_digest, const std::string& run_id) {
  if (options.audit == nullptr) return;
  std::vector<AuditEvent> events;
  for (const auto& denial : outcome.denials) events.push_back(denied(denial, options, run_id));
  for (const auto& contact : outcome.contacted) events.push_back(reached(contact, run_id));
  events.push_back(finished(outcome, plan_digest, run_id));
  const auto kept = options.audit->append(events);
  if (!kept && outcome.not_recorded.empty()) outcome.not_recorded = "its end: " + kept.error().message;
}

void record_no_start(const RunOptions& options, const Error& error, const std::string& run_id) {
  if (options.audit == nullptr) return;
  base::Value data;
  data.set("run_id", run_id);
  data.set("error", redacted_text(error.message, options.secrets));
  const AuditEvent events[] = {audit::make_event(AuditEventType::exec_finished, data)};
  std::ignore = options.audit->append(events);
}

}  // namespace harn::sandbox
