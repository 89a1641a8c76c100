// SPDX-License-Identifier: Apache-2.0
// Every member of a policy is a lattice; this is the greatest policy below both.
#include "policy/meet.h"

#include <algorithm>
#include <iterator>

#include "policy/hosts.h"
#include "policy/path_model.h"

namespace harn::policy {
namespace {

template <class T>
std::set<T> shared(const std::set<T>& a, const std::set<T>& b) {
  std::set<T> out;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(out, out.end()));
  return out;
}

template <class T>
std::set<T> united(std::set<T> a, const std::set<T>& b) {
  a.insert(b.begin(), b.end());
  return a;
}

// Unset = no limit.
template <class T>
std::optional<T> lesser(const std::optional<T>& a, const std::optional<T>& b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

Limits meet_limits(const Limits& a, const Limits& b) {
  return {.max_memory_mb = lesser(a.max_memory_mb, b.max_memory_mb),
          .max_cpu_seconds = lesser(a.max_cpu_seconds, b.max_cpu_seconds),
          .max_processes = lesser(a.max_processes, b.max_processes),
          .max_file_size_mb = lesser(a.max_file_size_mb, b.max_file_size_mb),
          .max_output_bytes = lesser(a.max_output_bytes, b.max_output_bytes),
          .max_open_files = lesser(a.max_open_files, b.max_open_files),
          .cpu_milli = lesser(a.cpu_milli, b.cpu_milli),
          .wall_time = lesser(a.wall_time, b.wall_time),
          .idle_timeout = lesser(a.idle_timeout, b.idle_timeout)};
}

Network meet_network(const Network& a, const Network& b) {
  Network out;
  out.loopback = a.loopback && b.loopback;
  out.blocked_ports = united(a.blocked_ports, b.blocked_ports);
  if (a.mode == NetworkMode::unrestricted) {
    out.mode = b.mode;
    out.allowed_hosts = b.allowed_hosts;
  } else if (b.mode == NetworkMode::unrestricted) {
    out.allowed_hosts = a.allowed_hosts;
  } else {
    out.allowed_hosts = meet_hosts(a.allowed_hosts, b.allowed_hosts);
  }
  return out;
}

// Values a policy sets are data, not authority (a command can set any variable for its own
// children), so both sides' values are kept; of two values for one name the lesser text is kept, so
// that the order of the sides does not matter.
std::map<std::string, std::string> merge_set(std::map<std::string, std::string> a, const std::map<std::string, std::string>& b) {
  for (const auto& [name, value] : b) {
    const auto [it, fresh] = a.emplace(name, value);
    if (!fresh) it->second = std::min(it->second, value);
  }
  return a;
}

EnvRules meet_env(const EnvRules& a, const EnvRules& b) {
  return {.mode = std::max(a.mode.value_or(EnvMode::inherit), b.mode.value_or(EnvMode::inherit)),
          .set = merge_set(a.set, b.set),
          .remove = united(a.remove, b.remove),
          .passthrough = shared(entries(a.passthrough), entries(b.passthrough)),
          .strip = united(a.strip, b.strip)};
}

std::vector<UnixSocket> meet_sockets(const std::vector<UnixSocket>& a, const std::vector<UnixSocket>& b) {
  std::map<AbsPath, bool> wanted;
  for (const auto& socket : a) wanted[socket.path] |= socket.allow_dangerous;
  std::map<AbsPath, bool> out;
  for (const auto& socket : b)
    if (const auto it = wanted.find(socket.path); it != wanted.end()) out[socket.path] |= it->second && socket.allow_dangerous;
  std::vector<UnixSocket> sockets;
  for (const auto& [path, dangerous] : out) sockets.push_back({path, dangerous});
  return sockets;
}

ProcessSandbox meet_sandbox(const Policy& a, const Policy& b) {
  ProcessSandbox out;
  out.presets = shared(a.effective_presets(), b.effective_presets());
  out.package_tokens = a.names_presets() && b.names_presets();
  out.unix_sockets = meet_sockets(entries(a.process_sandbox.unix_sockets), entries(b.process_sandbox.unix_sockets));
  const auto& mine = entries(a.process_sandbox.credentials);
  const auto& other = entries(b.process_sandbox.credentials);
  const std::set<AbsPath> theirs(other.begin(), other.end());
  std::copy_if(mine.begin(), mine.end(), std::back_inserter(out.credentials.emplace()),
               [&](const AbsPath& path) { return theirs.contains(path); });
  return out;
}

void meet_path_lists(const Policy& a, const Policy& b, Policy& out) {
  const PathModel x(a);
  const PathModel y(b);
  auto lists = meet_paths(x, y);
  // Two unresolved project roots are the same one; an unresolved and a named one share nothing.
  if (a.workspace_roots || b.workspace_roots) out.workspace_roots = std::move(lists.workspace);
  put_path_lists(std::move(lists), out);
}

}  // namespace

Policy meet(const Policy& a, const Policy& b) {
  Policy out;
  out.sandbox_profile = std::max(a.profile(), b.profile());
  out.side_effect_level = std::min(a.level(), b.level());
  const auto& x = a.effective_capabilities();
  const auto& y = b.effective_capabilities();
  out.capabilities = Capabilities{.workspace = shared(x.workspace, y.workspace), .process = shared(x.process, y.process)};
  out.process_sandbox = meet_sandbox(a, b);
  meet_path_lists(a, b, out);
  out.network = meet_network(a.effective_network(), b.effective_network());
  out.limits = meet_limits(a.limits, b.limits);
  out.env = meet_env(a.env, b.env);
  out.blocked_commands = united(a.blocked_commands, b.blocked_commands);
  out.recursion_limit = lesser(a.recursion_limit, b.recursion_limit);
  return canonical(std::move(out));
}

}  // namespace harn::policy
