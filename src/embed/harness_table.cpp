// SPDX-License-Identifier: Apache-2.0
#include "embed/harness_table.h"

#include <array>

namespace harn::harness {
namespace {

constexpr std::array modes = {SandboxMode::none, SandboxMode::process, SandboxMode::docker};

template <class List>
base::Value list_of(const List& list) {
  base::Array out;
  for (const auto& entry : list) out.emplace_back(entry);
  return out;
}

base::Value ports_of(const std::vector<std::uint16_t>& ports) {
  base::Array out;
  for (const auto port : ports) out.emplace_back(static_cast<std::int64_t>(port));
  return out;
}

std::vector<std::string> texts_in(const base::Value& list) {
  std::vector<std::string> out;
  for (const auto& entry : list.array()) out.push_back(entry.string());
  return out;
}

void read_texts(const base::Value& table, std::string_view name, std::vector<std::string>& out) {
  if (const auto* list = table.find(name)) out = texts_in(*list);
}

void read_texts(const base::Value& table, std::string_view name, std::optional<std::vector<std::string>>& out) {
  if (const auto* list = table.find(name)) out = texts_in(*list);
}

void read_number(const base::Value& table, std::string_view name, std::uint64_t& out) {
  if (const auto* number = table.find(name)) out = static_cast<std::uint64_t>(number->integer());
}

void read_flag(const base::Value& table, std::string_view name, bool& out) {
  if (const auto* flag = table.find(name)) out = flag->boolean();
}

}  // namespace

std::string_view name_of(SandboxMode mode) {
  switch (mode) {
    case SandboxMode::none: return "none";
    case SandboxMode::docker: return "docker";
    default: return "process";
  }
}

base::Value table_of(const SandboxPolicy& policy) {
  base::Value out;
  out.set("enabled", true);
  out.set("mode", name_of(policy.mode));
  if (policy.allowed_paths) out.set("allowed_paths", list_of(*policy.allowed_paths));
  out.set("blocked_commands", list_of(policy.blocked_commands));
  out.set("max_memory_mb", policy.resource_limits.max_memory_mb);
  out.set("max_cpu_seconds", policy.resource_limits.max_cpu_seconds);
  out.set("max_processes", policy.resource_limits.max_processes);
  out.set("max_file_size_mb", policy.resource_limits.max_file_size_mb);
  out.set("network_access", policy.network.allow_network);
  if (policy.network.allowed_hosts) out.set("allowed_hosts", list_of(*policy.network.allowed_hosts));
  out.set("blocked_ports", ports_of(policy.network.blocked_ports));
  if (policy.mode == SandboxMode::docker) out.set("docker_image", policy.docker_image);
  out.set("env_passthrough", list_of(policy.env_passthrough));
  out.set("strip_env", list_of(policy.strip_env));
  return out;
}

SandboxConfig config_of(const base::Value& table) {
  SandboxConfig config;
  auto& policy = config.policy;
  read_flag(table, "enabled", config.enabled);
  if (const auto* mode = table.find("mode"))
    for (const auto known : modes)
      if (name_of(known) == mode->string()) policy.mode = known;
  read_texts(table, "allowed_paths", policy.allowed_paths);
  read_texts(table, "blocked_commands", policy.blocked_commands);
  read_number(table, "max_memory_mb", policy.resource_limits.max_memory_mb);
  read_number(table, "max_cpu_seconds", policy.resource_limits.max_cpu_seconds);
  read_number(table, "max_processes", policy.resource_limits.max_processes);
  read_number(table, "max_file_size_mb", policy.resource_limits.max_file_size_mb);
  read_flag(table, "network_access", policy.network.allow_network);
  read_texts(table, "allowed_hosts", policy.network.allowed_hosts);
  if (const auto* ports = table.find("blocked_ports"))
    for (const auto& port : ports->array()) policy.network.blocked_ports.push_back(static_cast<std::uint16_t>(port.integer()));
  if (const auto* image = table.find("docker_image")) policy.docker_image = image->string();
  read_texts(table, "env_passthrough", policy.env_passthrough);
  read_texts(table, "strip_env", policy.strip_env);
  return config;
}

}  // namespace harn::harness
