// SPDX-License-Identifier: Apache-2.0
#include "tape/record_json.h"

#include <fmt/format.h>

#include "base/json.h"
#include "harn/policy_text.h"
#include "plan/json_fields.h"
#include "policy/member_table.h"
#include "policy/names.h"

namespace harn::plan {

// A policy is read as strictly as one in a file.
template <>
struct Json<Policy> {
  static base::Value write(const Policy& policy) { return policy::policy_value(policy); }
  static Status read(const base::Value& value, Policy& out) {
    HARN_TRY(policy, parse_policy_json(base::print_json(value), {}));
    out = std::move(policy);
    return {};
  }
};

template <>
struct Fields<TapedOutput> {
  static constexpr std::tuple list{always("size", &TapedOutput::size), always("sha256", &TapedOutput::sha256),
                                   field("bytes", &TapedOutput::bytes)};
};
template <>
struct Fields<TapedInput> {
  static constexpr std::tuple list{always("size", &TapedInput::size), always("sha256", &TapedInput::sha256),
                                   always("ended", &TapedInput::ended)};
};
template <>
struct Fields<TapedEnd> {
  static constexpr std::tuple list{always("exit_code", &TapedEnd::exit_code),
                                   field("timed_out", &TapedEnd::timed_out),
                                   field("oom_killed", &TapedEnd::oom_killed),
                                   field("cpu_exceeded", &TapedEnd::cpu_exceeded),
                                   field("file_size_exceeded", &TapedEnd::file_size_exceeded),
                                   field("processes_exceeded", &TapedEnd::processes_exceeded),
                                   field("cancelled", &TapedEnd::cancelled),
                                   field("output_truncated", &TapedEnd::output_truncated),
                                   field("killed_processes", &TapedEnd::killed_processes),
                                   always("wall_ms", &TapedEnd::wall_ms),
                                   field("cpu_ms", &TapedEnd::cpu_ms),
                                   field("max_memory_bytes", &TapedEnd::max_memory_bytes)};
};
template <>
struct Fields<TapedError> {
  static constexpr std::tuple list{always("code", &TapedError::code), always("stage", &TapedError::stage),
                                   field("os_error", &TapedError::os_error), always("message", &TapedError::message),
                                   field("hint", &TapedError::hint)};
};
template <>
struct Fields<RunRecord> {
  static constexpr std::tuple list{always("run_id", &RunRecord::run_id),
                                   always("recorded_at", &RunRecord::recorded_at),
                                   always("argv", &RunRecord::argv),
                                   always("cwd", &RunRecord::cwd),
                                   always("env", &RunRecord::env),
                                   always("env_digest", &RunRecord::env_digest),
                                   always("stdin", &RunRecord::input),
                                   always("profile", &RunRecord::profile),
                                   always("policy", &RunRecord::policy),
                                   always("policy_digest", &RunRecord::policy_digest),
                                   field("plan_digest", &RunRecord::plan_digest),
                                   field("backend", &RunRecord::backend),
                                   field("host", &RunRecord::host),
                                   field("redacted", &RunRecord::redacted),
                                   field("end", &RunRecord::end),
                                   field("error", &RunRecord::error),
                                   field("stdout", &RunRecord::out),
                                   field("stderr", &RunRecord::err)};
};

}  // namespace harn::plan

namespace harn {
namespace tape {

constexpr std::string_view record_format = "harn.run_record.v2";
constexpr std::string_view first_format = "harn.run_record.v1";  // its policy_digest was of the policy with its secrets

base::Value record_value(const RunRecord& record) {
  base::Value out;
  out.set("format", record_format);
  plan::write_members(record, out);
  return out;
}

Result<RunRecord> read_record(const base::Value& value) {
  const auto* format = value.find("format");
  if (format == nullptr || !format->is(base::ValueKind::string) || (format->string() != record_format && format->string() != first_format))
    return plan::broken("this is no run record of a format this release knows", "its member 'format' would be \"harn.run_record.v2\"");
  RunRecord record;
  HARN_OK(plan::read_members(value, record, "format"));
  if (record.end && record.error) return plan::broken("a run either ended or did not start, and this record says both");
  if (record.profile != record.policy.profile())
    return plan::broken(fmt::format("the record names the profile {}, and its policy is {}", base::enum_name(record.profile),
                                    base::enum_name(record.policy.profile())));
  if (record.redacted && format->string() == first_format) record.policy_digest = digest(record.policy);
  if (record.policy_digest != digest(record.policy))
    return plan::broken("the digest of the policy is not that of the policy in the record");
  return record;
}

}  // namespace tape

std::string run_record_to_json(const RunRecord& record, int indent) { return base::print_json(tape::record_value(record), indent); }

Result<RunRecord> run_record_from_json(std::string_view text) {
  HARN_TRY(value, base::parse_json(text, "record"));
  return tape::read_record(value);
}

}  // namespace harn
