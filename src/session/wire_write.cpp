// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "plan/json_fields.h"
#include "session/names.h"
#include "session/wire.h"

namespace harn {
namespace session {
namespace {

using base::Array;
using base::Object;
using base::Value;

// {"secs": 1, "nanos": 500000000}
Value duration(const std::optional<std::chrono::nanoseconds>& time) {
  if (!time) return nullptr;
  Value out;
  out.set("secs", static_cast<std::int64_t>(time->count() / 1'000'000'000));
  out.set("nanos", static_cast<std::int64_t>(time->count() % 1'000'000'000));
  return out;
}

Value limit(const std::optional<std::uint32_t>& number) { return number ? Value(*number) : Value(nullptr); }

template <class T>
Value text_or_null(const std::optional<T>& text) {
  return text ? Value(*text) : Value(nullptr);
}

Value texts(const std::vector<std::string>& list) {
  Array out;
  for (const auto& text : list) out.emplace_back(text);
  return out;
}

template <class T>
Value list_of(const std::vector<T>& list) {
  Array out;
  for (const auto& entry : list) out.push_back(value_of(entry));
  return out;
}

}  // namespace

Value value_of(const std::map<std::string, std::string>& value) {
  Value out = Object{};
  for (const auto& [name, text] : value) out.set(name, text);
  return out;
}

Value value_of(const NetworkPolicy& value) {
  Value out;
  out.set("mode", value.unrestricted ? "unrestricted" : "limited");
  if (!value.unrestricted) out.set("allowed_hosts", texts(value.allowed_hosts));
  return out;
}

Value value_of(const FilesystemMount& value) {
  Value out;
  out.set("source", value.source);
  out.set("target", value.target);
  out.set("access", base::enum_name(value.access));
  return out;
}

Value value_of(const ResolvedMount& mount) {
  Value out;
  out.set("target", mount.target);
  out.set("access", base::enum_name(mount.access));
  out.set("host_path", text_or_null(mount.host_path));
  return out;
}

Value value_of(const ResourceLimits& value) {
  Value out;
  out.set("wall_time", duration(value.wall_time));
  out.set("cpu_count", limit(value.cpu_count));
  out.set("memory_mb", limit(value.memory_mb));
  out.set("idle_timeout", duration(value.idle_timeout));
  return out;
}

Value value_of(const SandboxSpec& value) {
  Value out;
  out.set("session_id", value.session_id ? Value(value.session_id->value) : Value(nullptr));
  out.set("labels", value_of(value.labels));
  out.set("network_policy", value_of(value.network_policy));
  out.set("mounts", list_of(value.mounts));
  out.set("limits", value_of(value.limits));
  return out;
}

Value value_of(const SandboxSession& value) {
  Value out;
  out.set("id", value.id.value);
  out.set("backend", value.backend);
  out.set("state", base::enum_name(value.state));
  out.set("mounts", list_of(value.mounts));
  out.set("metadata", value_of(value.metadata));
  return out;
}

Value value_of(const ExecRequest& value) {
  Value out;
  out.set("command", value.command);
  out.set("args", texts(value.args));
  out.set("cwd", text_or_null(value.cwd));
  out.set("env", value_of(value.env));
  out.set("stdin", value.input ? plan::write_text(*value.input) : Value(nullptr));
  out.set("timeout", duration(value.timeout));
  return out;
}

Value value_of(const ExecResult& value) {
  Value out;
  out.set("stdout", plan::write_text(value.out));
  out.set("stderr", plan::write_text(value.err));
  out.set("exit_code", value.exit_code);
  out.set("timed_out", value.timed_out);
  return out;
}

Value value_of(const SandboxSnapshot& value) {
  Value out;
  out.set("session_id", value.session_id.value);
  out.set("backend", value.backend);
  out.set("snapshot_id", value.snapshot_id);
  out.set("metadata", value_of(value.metadata));
  return out;
}

Value value_of(const SandboxCapabilities& value) {
  Value out;
  out.set("local_process_sandbox", value.local_process_sandbox);
  out.set("network_policy", value.network_policy);
  out.set("snapshot", value.snapshot);
  out.set("resume", value.resume);
  out.set("suspend_on_idle", value.suspend_on_idle);
  return out;
}

}  // namespace session

std::string to_json(const NetworkPolicy& value) { return base::print_json(session::value_of(value)); }
std::string to_json(const SandboxSpec& value) { return base::print_json(session::value_of(value)); }
std::string to_json(const SandboxSession& value) { return base::print_json(session::value_of(value)); }
std::string to_json(const ExecRequest& value) { return base::print_json(session::value_of(value)); }
std::string to_json(const ExecResult& value) { return base::print_json(session::value_of(value)); }
std::string to_json(const SandboxSnapshot& value) { return base::print_json(session::value_of(value)); }
std::string to_json(const SandboxCapabilities& value) { return base::print_json(session::value_of(value)); }

}  // namespace harn
