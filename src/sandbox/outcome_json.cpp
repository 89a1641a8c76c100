// SPDX-License-Identifier: Apache-2.0
// Outcomes and receipts as JSON, for agents. Bytes that are no text travel as {"base64": "…"}.
#include "base/enum_names.h"
#include "base/json.h"
#include "harn/outcome.h"
#include "plan/json_fields.h"
#include "plan/names.h"

namespace harn {

template <>
struct base::EnumNames<Proof> {
  static constexpr std::array names{
      std::pair{Proof::not_requested, std::string_view("not_requested")},
      std::pair{Proof::gap, std::string_view("gap")},
      std::pair{Proof::assumed, std::string_view("assumed")},
      std::pair{Proof::proved, std::string_view("proved")},
  };
};

namespace {

base::Value texts(const std::vector<std::string>& list) {
  base::Array out;
  for (const auto& text : list) out.push_back(plan::write_text(text));
  return out;
}

base::Value gap_value(const Gap& gap) {
  base::Value out;
  out.set("dimension", base::enum_name(gap.dimension));
  out.set("code", gap.code);
  if (!gap.paths.empty()) {
    base::Array paths;
    for (const auto& path : gap.paths) paths.push_back(plan::write_text(path.text()));
    out.set("paths", std::move(paths));
  }
  out.set("detail", gap.detail);
  if (!gap.remedy.empty()) out.set("remedy", gap.remedy);
  return out;
}

base::Value dimension_value(const ReceiptDimension& row) {
  base::Value out;
  out.set("requested", row.requested);
  out.set("effective", base::enum_name(row.effective));
  out.set("proof", base::enum_name(row.proof));
  if (!row.layers.empty()) out.set("layers", texts(row.layers));
  if (!row.reason.empty()) out.set("reason", row.reason);
  return out;
}

base::Value receipt_value(const Receipt& receipt) {
  base::Value out;
  out.set("format", "harn.receipt.v1");
  out.set("run_id", receipt.run_id);
  out.set("policy_digest", receipt.policy_digest);
  out.set("plan_digest", receipt.plan_digest);
  out.set("backend", receipt.backend);
  out.set("profile", receipt.profile);
  out.set("host", receipt.host);
  base::Value layers(base::Object{});
  for (const auto& [name, version] : receipt.layers) layers.set(name, version);
  out.set("layers", std::move(layers));
  base::Value dimensions(base::Object{});
  for (const auto& row : receipt.dimensions) dimensions.set(std::string(base::enum_name(row.dimension)), dimension_value(row));
  out.set("dimensions", std::move(dimensions));
  base::Array gaps;
  for (const auto& gap : receipt.gaps) gaps.push_back(gap_value(gap));
  out.set("gaps", std::move(gaps));
  base::Array fallbacks;
  for (const auto& tried : receipt.fallbacks) {
    base::Value row;
    row.set("backend", base::enum_name(tried.backend));
    row.set("why_not", tried.why_not);
    fallbacks.push_back(std::move(row));
  }
  out.set("fallbacks", std::move(fallbacks));
  base::Array removed;
  for (const auto& variable : receipt.env_removed) {
    base::Value row;
    row.set("name", plan::write_text(variable.name));
    row.set("why", variable.why);
    removed.push_back(std::move(row));
  }
  out.set("env_removed", std::move(removed));
  out.set("credentials_exposed", texts(receipt.credentials_exposed));
  base::Value timings(base::Object{});
  for (const auto& [name, micros] : receipt.timings_us) timings.set(name, micros);
  out.set("timings_us", std::move(timings));
  return out;
}

base::Value usage_value(const Usage& usage) {
  base::Value out;
  out.set("wall_ms", usage.wall_ms);
  out.set("cpu_ms", usage.cpu_ms);
  out.set("max_memory_bytes", usage.max_memory_bytes);
  out.set("written_bytes", usage.written_bytes);
  if (usage.processes != 0) out.set("processes", usage.processes);
  return out;
}

base::Value denial_value(const Denial& denial) {
  base::Value out;
  if (!denial.access.empty()) out.set("access", denial.access);
  if (!denial.call.empty()) out.set("call", denial.call);
  out.set("target", plan::write_text(denial.target));
  out.set("rule", plan::write_text(denial.rule));
  if (!denial.remedy.empty()) out.set("remedy", plan::write_text(denial.remedy));
  if (!denial.hint.empty()) out.set("hint", plan::write_text(denial.hint));
  if (!denial.processes.empty()) out.set("processes", texts(denial.processes));
  return out;
}

base::Value contact_value(const Contact& contact) {
  base::Value out;
  out.set("host", plan::write_text(contact.host));
  out.set("port", contact.port);
  out.set("connections", contact.connections);
  if (contact.failed != 0) out.set("failed", contact.failed);
  out.set("sent_bytes", contact.sent_bytes);
  out.set("received_bytes", contact.received_bytes);
  return out;
}

base::Value outcome_value(Outcome outcome) {
  base::Value out;
  out.set("format", "harn.outcome.v1");
  out.set("success", outcome.success());
  out.set("exit_code", outcome.exit_code);
  if (outcome.captured_stdout) out.set("stdout", plan::write_text(std::move(*outcome.captured_stdout)));
  if (outcome.captured_stderr) out.set("stderr", plan::write_text(std::move(*outcome.captured_stderr)));
  out.set("timed_out", outcome.timed_out);
  out.set("oom_killed", outcome.oom_killed);
  out.set("cpu_exceeded", outcome.cpu_exceeded);
  out.set("file_size_exceeded", outcome.file_size_exceeded);
  out.set("processes_exceeded", outcome.processes_exceeded);
  if (outcome.cancelled) out.set("cancelled", true);
  out.set("output_truncated", outcome.output_truncated);
  out.set("killed_processes", outcome.killed_processes);
  if (!outcome.not_recorded.empty()) out.set("not_recorded", outcome.not_recorded);
  if (!outcome.error.empty()) out.set("error", outcome.error);
  out.set("usage", usage_value(outcome.usage));
  out.set("appeared", texts(outcome.appeared));
  out.set("created_trusted", texts(outcome.created_trusted));
  base::Array denials;
  for (const auto& denial : outcome.denials) denials.push_back(denial_value(denial));
  out.set("denials", std::move(denials));
  base::Array contacted;
  for (const auto& contact : outcome.contacted) contacted.push_back(contact_value(contact));
  out.set("contacted", std::move(contacted));
  if (!outcome.relay_lost.empty()) out.set("relay_lost", outcome.relay_lost);
  out.set("receipt", receipt_value(outcome.receipt));
  return out;
}

}  // namespace

std::string receipt_to_json(const Receipt& receipt, int indent) { return base::print_json(receipt_value(receipt), indent); }

std::string outcome_to_json(const Outcome& outcome, int indent) { return base::print_json(outcome_value(Outcome(outcome)), indent); }

void write_outcome_json(Outcome outcome, int indent, const std::function<void(std::string_view)>& sink) {
  base::print_json(outcome_value(std::move(outcome)), indent, sink);
}
}  // namespace harn
