// SPDX-License-Identifier: Apache-2.0
#include "policy/members.h"

#include "policy/hosts.h"
#include "policy/names.h"

namespace harn::policy {
namespace {

std::vector<std::string> texts(const std::vector<AbsPath>& paths) {
  std::vector<std::string> out;
  out.reserve(paths.size());
  for (const auto& path : paths) out.push_back(path.text());
  return out;
}

template <class E>
std::vector<std::string> texts(const std::set<E>& values) {
  std::vector<std::string> out;
  out.reserve(values.size());
  for (const auto& value : values) out.emplace_back(base::enum_name(value));
  return out;
}

std::vector<std::string> texts(const std::set<std::string>& values) { return {values.begin(), values.end()}; }

// A braced list would copy the text.
MemberText one_text(std::string_view name, std::string text) {
  MemberText out{.member = name};
  out.entries.push_back(std::move(text));
  return out;
}

template <class T>
MemberText limit(std::string_view name, const std::optional<T>& value) {
  std::string text = "no limit";
  if constexpr (requires { value->count(); }) {
    if (value) text = std::to_string(value->count()) + "ms";
  } else if (value) {
    text = std::to_string(*value);
  }
  return one_text(name, std::move(text));
}

MemberText scalar(std::string_view name, std::string_view text) { return one_text(name, std::string(text)); }

void add_limits(const Limits& limits, std::vector<MemberText>& out) {
  out.push_back(limit("limits.max_memory_mb", limits.max_memory_mb));
  out.push_back(limit("limits.max_cpu_seconds", limits.max_cpu_seconds));
  out.push_back(limit("limits.max_processes", limits.max_processes));
  out.push_back(limit("limits.max_file_size_mb", limits.max_file_size_mb));
  out.push_back(limit("limits.max_output_bytes", limits.max_output_bytes));
  out.push_back(limit("limits.max_open_files", limits.max_open_files));
  out.push_back(limit("limits.cpu_count", limits.cpu_milli));
  out.push_back(limit("limits.wall_time", limits.wall_time));
  out.push_back(limit("limits.idle_timeout", limits.idle_timeout));
}

void add_sandbox(const Policy& policy, std::vector<MemberText>& out) {
  const auto& sandbox = policy.process_sandbox;
  out.push_back({"process_sandbox.presets", Direction::grants, texts(policy.effective_presets())});
  out.push_back(scalar("process_sandbox.package_tokens", policy.names_presets() && !policy.effective_presets().empty() ? "true" : "false"));
  out.push_back({"process_sandbox.read_roots", Direction::grants, texts(entries(sandbox.read_roots))});
  out.push_back({"process_sandbox.write_roots", Direction::grants, texts(entries(sandbox.write_roots))});
  out.push_back({"process_sandbox.read_deny_roots", Direction::restricts, texts(sandbox.read_deny_roots)});
  MemberText sockets{"process_sandbox.unix_sockets", Direction::grants, {}};
  for (const auto& socket : entries(sandbox.unix_sockets))
    sockets.entries.push_back(socket.path.text() + (socket.allow_dangerous ? " (allow_dangerous)" : ""));
  out.push_back(std::move(sockets));
  out.push_back({"process_sandbox.credentials", Direction::grants, texts(entries(sandbox.credentials))});
}

void add_network(const Network& network, std::vector<MemberText>& out) {
  out.push_back(scalar("network.mode", base::enum_name(network.mode)));
  MemberText hosts{"network.allowed_hosts", Direction::grants, {}};
  for (const auto& rule : network.allowed_hosts) hosts.entries.push_back(text_of(rule));
  out.push_back(std::move(hosts));
  out.push_back(scalar("network.loopback", network.loopback ? "true" : "false"));
  MemberText ports{"network.blocked_ports", Direction::restricts, {}};
  for (const auto port : network.blocked_ports) ports.entries.push_back(std::to_string(port));
  out.push_back(std::move(ports));
}

void add_env(const EnvRules& env, std::vector<MemberText>& out) {
  out.push_back(scalar("env.mode", base::enum_name(env.mode.value_or(EnvMode::inherit))));
  out.push_back({"env.remove", Direction::restricts, texts(env.remove)});
  out.push_back({"env.passthrough", Direction::grants, texts(entries(env.passthrough))});
  out.push_back({"env.strip", Direction::restricts, texts(env.strip)});
}

}  // namespace

std::vector<MemberText> member_texts(const Policy& policy) {
  std::vector<MemberText> out;
  out.reserve(64);
  out.push_back(scalar("sandbox_profile", base::enum_name(policy.profile())));
  out.push_back(scalar("side_effect_level", base::enum_name(policy.level())));
  const auto& held = policy.effective_capabilities();
  out.push_back({"capabilities.workspace", Direction::grants, texts(held.workspace)});
  out.push_back({"capabilities.process", Direction::grants, texts(held.process)});
  out.push_back({"workspace_roots", Direction::grants,
                 policy.workspace_roots ? texts(*policy.workspace_roots) : std::vector<std::string>{"the project root"}});
  out.push_back({"read_only_roots", Direction::grants, texts(entries(policy.read_only_roots))});
  out.push_back({"unprotect", Direction::grants, texts(entries(policy.unprotect))});
  add_sandbox(policy, out);
  add_network(policy.effective_network(), out);
  add_limits(policy.limits, out);
  add_env(policy.env, out);
  out.push_back({"blocked_commands", Direction::restricts, texts(policy.blocked_commands)});
  out.push_back(limit("recursion_limit", policy.recursion_limit));
  return out;
}

}  // namespace harn::policy
