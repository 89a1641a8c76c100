// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "plan/json_fields.h"
#include "session/errors.h"
#include "session/names.h"
#include "session/wire.h"

namespace harn {
namespace session {

using base::Value;
using base::ValueKind;

ObjectReader::ObjectReader(const Value& value, std::string where) : value_(&value), where_(std::move(where)) {
  if (!value.is(ValueKind::object)) mistake_ = fmt::format("{} is no object", where_.empty() ? "the text" : where_);
}

const Value* ObjectReader::member(std::string_view name) {
  known_.emplace_back(name);
  const auto* found = value_->find(name);
  return found == nullptr || found->is(ValueKind::null) ? nullptr : found;
}

void ObjectReader::wrong(std::string_view name, std::string_view wanted) {
  if (mistake_.empty()) mistake_ = fmt::format("{}{}{} must be {}", where_, where_.empty() ? "" : ".", name, wanted);
}

void ObjectReader::take(SandboxResult<void> result) {
  if (!result && mistake_.empty()) mistake_ = result.error().detail;
}

ObjectReader& ObjectReader::text(std::string_view name, std::string& out, bool required) {
  const auto* found = member(name);
  if (found == nullptr) {
    if (required) wrong(name, "given");
  } else if (!plan::read_text(*found, out)) {
    wrong(name, "a string");
  }
  return *this;
}

ObjectReader& ObjectReader::text(std::string_view name, std::optional<std::string>& out) {
  if (const auto* found = member(name)) {
    if (!plan::read_text(*found, out.emplace())) wrong(name, "a string");
  }
  return *this;
}

ObjectReader& ObjectReader::flag(std::string_view name, bool& out) {
  if (const auto* found = member(name)) {
    if (found->is(ValueKind::boolean)) out = found->boolean();
    else wrong(name, "true or false");
  }
  return *this;
}

ObjectReader& ObjectReader::number(std::string_view name, std::int64_t& out, bool required) {
  const auto* found = member(name);
  if (found != nullptr && found->is(ValueKind::integer)) out = found->integer();
  else if (found != nullptr || required) wrong(name, "a number");
  return *this;
}

ObjectReader& ObjectReader::texts(std::string_view name, std::vector<std::string>& out) {
  const auto* found = member(name);
  if (found == nullptr) return *this;
  if (!found->is(ValueKind::array)) return wrong(name, "a list of strings"), *this;
  for (const auto& entry : found->array()) {
    if (!entry.is(ValueKind::string)) return wrong(name, "a list of strings"), *this;
    out.push_back(entry.string());
  }
  return *this;
}

ObjectReader& ObjectReader::map(std::string_view name, std::map<std::string, std::string>& out) {
  const auto* found = member(name);
  if (found == nullptr) return *this;
  if (!found->is(ValueKind::object)) return wrong(name, "an object of strings"), *this;
  for (const auto& entry : found->object()) {
    if (!entry.value.is(ValueKind::string)) return wrong(name, "an object of strings"), *this;
    out.insert_or_assign(entry.name, entry.value.string());
  }
  return *this;
}

ObjectReader& ObjectReader::duration(std::string_view name, std::optional<std::chrono::nanoseconds>& out) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 1'000'000'000 - 1;
  const auto* found = member(name);
  if (found == nullptr) return *this;
  std::int64_t seconds = 0;
  std::int64_t nanos = 0;
  ObjectReader reader(*found, std::string(name));
  reader.number("secs", seconds).number("nanos", nanos);
  const bool fits = seconds >= 0 && seconds <= most && nanos >= 0 && nanos < 1'000'000'000;
  if (!reader.done() || !fits) wrong(name, R"(a duration such as {"secs": 30, "nanos": 0})");
  else out = std::chrono::seconds(seconds) + std::chrono::nanoseconds(nanos);
  return *this;
}

ObjectReader& ObjectReader::limit(std::string_view name, std::optional<std::uint32_t>& out) {
  const auto* found = member(name);
  if (found == nullptr) return *this;
  if (!found->is(ValueKind::integer) || found->integer() < 1 || found->integer() > std::numeric_limits<std::uint32_t>::max())
    wrong(name, "a number from 1 up");
  else out = static_cast<std::uint32_t>(found->integer());
  return *this;
}

SandboxResult<void> ObjectReader::done() {
  if (mistake_.empty() && value_->is(ValueKind::object))
    for (const auto& entry : value_->object())
      if (std::ranges::find(known_, entry.name) == known_.end()) {
        mistake_ = fmt::format("{}{}{} is not known", where_, where_.empty() ? "" : ".", base::quoted(entry.name));
        break;
      }
  if (mistake_.empty()) return {};
  return fail_with(Kind::json, mistake_);
}

SandboxResult<FilesystemAccess> read_access(const Value* value) {
  if (value == nullptr) return FilesystemAccess::read_only;
  const auto found = value->is(ValueKind::string) ? base::enum_value<FilesystemAccess>(value->string()) : std::nullopt;
  if (!found) return fail_with(Kind::json, "access must be 'read_only' or 'read_write'");
  return *found;
}

SandboxResult<NetworkPolicy> read_network(const Value& value) {
  NetworkPolicy out;
  std::string mode;
  ObjectReader reader(value, "network_policy");
  reader.text("mode", mode, /*required=*/true).texts("allowed_hosts", out.allowed_hosts);
  if (mode != "unrestricted" && mode != "limited") reader.wrong("mode", "'unrestricted' or 'limited'");
  out.unrestricted = mode == "unrestricted";
  if (out.unrestricted && !out.allowed_hosts.empty()) reader.wrong("allowed_hosts", "left out of an unrestricted network");
  HARN_SESSION_PASS(reader.done());
  return out;
}

SandboxResult<FilesystemMount> read_mount(const Value& value) {
  FilesystemMount out;
  ObjectReader reader(value, "mounts");
  reader.text("source", out.source).text("target", out.target, /*required=*/true);
  HARN_SESSION_TAKE(access, read_access(reader.member("access")));
  out.access = access;
  HARN_SESSION_PASS(reader.done());
  return out;
}

SandboxResult<ResolvedMount> read_resolved(const Value& value) {
  ResolvedMount out;
  ObjectReader reader(value, "mounts");
  reader.text("target", out.target, /*required=*/true).text("host_path", out.host_path);
  HARN_SESSION_TAKE(access, read_access(reader.member("access")));
  out.access = access;
  HARN_SESSION_PASS(reader.done());
  return out;
}

SandboxResult<ResourceLimits> read_limits(const Value& value) {
  ResourceLimits out;
  ObjectReader reader(value, "limits");
  reader.duration("wall_time", out.wall_time).limit("cpu_count", out.cpu_count).limit("memory_mb", out.memory_mb);
  reader.duration("idle_timeout", out.idle_timeout);
  HARN_SESSION_PASS(reader.done());
  return out;
}

namespace {

SandboxResult<Value> parse(std::string_view text) {
  auto value = base::parse_json(text);
  if (!value) return fail_with(Kind::json, value.error().message);
  return std::move(*value);
}

template <class T, class Read>
SandboxResult<std::vector<T>> read_list(const Value* value, std::string_view name, Read read) {
  std::vector<T> out;
  if (value == nullptr) return out;
  if (!value->is(ValueKind::array)) return fail_with(Kind::json, fmt::format("{} must be a list", name));
  for (const auto& entry : value->array()) {
    HARN_SESSION_TAKE(one, read(entry));
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace
}  // namespace session

using session::ObjectReader;

SandboxResult<NetworkPolicy> network_policy_from_json(std::string_view text) {
  HARN_SESSION_TAKE(value, session::parse(text));
  return session::read_network(value);
}

SandboxResult<FilesystemMount> filesystem_mount_from_json(std::string_view text) {
  HARN_SESSION_TAKE(value, session::parse(text));
  return session::read_mount(value);
}

SandboxResult<SandboxSpec> sandbox_spec_from_json(std::string_view text) {
  HARN_SESSION_TAKE(value, session::parse(text));
  SandboxSpec out;
  ObjectReader reader(value);
  std::optional<std::string> id;
  reader.text("session_id", id).map("labels", out.labels);
  if (id) {
    HARN_SESSION_TAKE(parsed, SandboxSessionId::parse(*id));
    out.session_id = std::move(parsed);
  }
  if (const auto* network = reader.member("network_policy")) {
    HARN_SESSION_TAKE(read, session::read_network(*network));
    out.network_policy = std::move(read);
  }
  if (const auto* limits = reader.member("limits")) {
    HARN_SESSION_TAKE(read, session::read_limits(*limits));
    out.limits = read;
  }
  HARN_SESSION_TAKE(mounts, session::read_list<FilesystemMount>(reader.member("mounts"), "mounts", session::read_mount));
  out.mounts = std::move(mounts);
  HARN_SESSION_PASS(reader.done());
  return out;
}

SandboxResult<SandboxSession> sandbox_session_from_json(std::string_view text) {
  HARN_SESSION_TAKE(value, session::parse(text));
  SandboxSession out;
  ObjectReader reader(value);
  std::string state;
  reader.text("id", out.id.value, /*required=*/true).text("backend", out.backend, /*required=*/true);
  reader.text("state", state, /*required=*/true).map("metadata", out.metadata);
  const auto known = base::enum_value<SandboxState>(state);
  if (!known) reader.wrong("state", "provisioned, running, suspended or terminated");
  else out.state = *known;
  HARN_SESSION_TAKE(mounts, session::read_list<ResolvedMount>(reader.member("mounts"), "mounts", session::read_resolved));
  out.mounts = std::move(mounts);
  HARN_SESSION_PASS(reader.done());
  return out;
}

SandboxResult<ExecRequest> exec_request_from_json(std::string_view text) {
  HARN_SESSION_TAKE(value, session::parse(text));
  ExecRequest out;
  ObjectReader reader(value);
  reader.text("command", out.command, /*required=*/true).texts("args", out.args).text("cwd", out.cwd).map("env", out.env);
  reader.text("stdin", out.input).duration("timeout", out.timeout);
  HARN_SESSION_PASS(reader.done());
  return out;
}

SandboxResult<ExecResult> exec_result_from_json(std::string_view text) {
  HARN_SESSION_TAKE(value, session::parse(text));
  ExecResult out;
  ObjectReader reader(value);
  std::int64_t code = 0;
  reader.text("stdout", out.out).text("stderr", out.err).number("exit_code", code, /*required=*/true).flag("timed_out", out.timed_out);
  out.exit_code = static_cast<int>(code);
  HARN_SESSION_PASS(reader.done());
  return out;
}

SandboxResult<SandboxSnapshot> sandbox_snapshot_from_json(std::string_view text) {
  HARN_SESSION_TAKE(value, session::parse(text));
  SandboxSnapshot out;
  ObjectReader reader(value);
  reader.text("session_id", out.session_id.value, /*required=*/true).text("backend", out.backend, /*required=*/true);
  reader.text("snapshot_id", out.snapshot_id, /*required=*/true).map("metadata", out.metadata);
  HARN_SESSION_PASS(reader.done());
  return out;
}

SandboxResult<SandboxCapabilities> sandbox_capabilities_from_json(std::string_view text) {
  HARN_SESSION_TAKE(value, session::parse(text));
  SandboxCapabilities out;
  ObjectReader reader(value);
  reader.flag("local_process_sandbox", out.local_process_sandbox).flag("network_policy", out.network_policy);
  reader.flag("snapshot", out.snapshot).flag("resume", out.resume).flag("suspend_on_idle", out.suspend_on_idle);
  HARN_SESSION_PASS(reader.done());
  return out;
}

}  // namespace harn
