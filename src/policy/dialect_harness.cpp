// SPDX-License-Identifier: Apache-2.0
// The [sandbox] table of .harness/config.toml. Settings that Harness itself reads and then ignores
// (hosts, ports, paths in process mode) are enforced here.
#include <fmt/format.h>

#include "base/text.h"
#include "policy/dialects.h"
#include "policy/env_rules.h"

namespace harn {
namespace policy {
namespace {

enum class Mode : std::uint8_t {
  none,
  process,
  docker
};

}  // namespace
}  // namespace policy

template <>
struct base::EnumNames<policy::Mode> {
  static constexpr std::array names{std::pair{policy::Mode::none, std::string_view("none")},
                                    std::pair{policy::Mode::process, std::string_view("process")},
                                    std::pair{policy::Mode::docker, std::string_view("docker")}};
};

namespace policy {
namespace {

// The ranges of the same limits in a policy, so that what is imported can be printed and read back.
using Mebibytes = Count<std::uint64_t, 1, std::uint64_t{1} << 30>;
using Seconds = Count<std::uint64_t, 1, std::uint64_t{10} * 366 * 86'400>;
using Processes = Count<std::uint64_t, 1, std::uint64_t{1} << 22>;
using Names = std::set<std::string>;

struct Sandbox {
  std::optional<bool> enabled = {};
  Mode mode = Mode::process;
  std::optional<std::uint64_t> max_memory_mb = {};
  std::optional<std::uint64_t> max_cpu_seconds = {};
  std::optional<std::uint64_t> max_processes = {};
  std::optional<std::uint64_t> max_file_size_mb = {};
  std::optional<bool> network_access = {};
  std::optional<std::vector<HostRule>> allowed_hosts = {};
  std::set<std::uint16_t> blocked_ports = {};
  std::string docker_image = {};
  std::optional<std::vector<std::string>> allowed_paths = {};
  Names blocked_commands = {};
  std::optional<Names> env_passthrough = {};
  Names strip_env = {};
};

struct Image {
  static Result<std::string> read(const Value& value, const Place& at) { return read_image(value, at); }
};

// Kept as text: only the lowering knows what relative paths start from.
struct ForeignPaths {
  static Result<std::string> read_one(const Value& value, const Place& at) {
    if (!value.is(base::ValueKind::string) || value.string().empty() || has_nul(value.string())) return at.expected("a path", value);
    std::string text = value.string();
    const auto parts = base::split(text, '/');
    if (std::find(parts.begin(), parts.end(), "..") != parts.end())
      return at.expected("a path without '..'", value, "write the path it leads to");
    if (text != "~" && !text.starts_with("~/")) return text;
    if (at.home().is_root())
      return at.wrong(fmt::format("{} names the home directory, but none is known", at.name()), "write the absolute path");
    return at.home().text() + text.substr(1);
  }
  static Result<std::vector<std::string>> read(const Value& value, const Place& at) {
    return read_each<std::string>(value, at, "paths", read_one);
  }
};

constexpr std::array<ForeignMember<Sandbox>, 14> members{{
    {"enabled", read_into<Flag, &Sandbox::enabled>},
    {"mode", read_into<Word<Mode>, &Sandbox::mode>},
    {"max_memory_mb", read_into<Mebibytes, &Sandbox::max_memory_mb>},
    {"max_cpu_seconds", read_into<Seconds, &Sandbox::max_cpu_seconds>},
    {"max_processes", read_into<Processes, &Sandbox::max_processes>},
    {"max_file_size_mb", read_into<Mebibytes, &Sandbox::max_file_size_mb>},
    {"network_access", read_into<Flag, &Sandbox::network_access>},
    {"allowed_hosts", read_into<Hosts, &Sandbox::allowed_hosts>},
    {"blocked_ports", read_into<Ports, &Sandbox::blocked_ports>},
    {"docker_image", read_into<Image, &Sandbox::docker_image>},
    {"allowed_paths", read_into<ForeignPaths, &Sandbox::allowed_paths>},
    {"blocked_commands", read_into<Texts<TextRule::command>, &Sandbox::blocked_commands>},
    {"env_passthrough", read_into<Texts<TextRule::variable>, &Sandbox::env_passthrough>},
    {"strip_env", read_into<Texts<TextRule::variable_pattern>, &Sandbox::strip_env>},
}};

void lower_mode(const Sandbox& from, Imported& to) {
  to.enabled = from.enabled.value_or(false);
  if (!to.enabled)
    to.notes.push_back(from.enabled ? "enabled is false: Harness would run without a sandbox; the policy is what the table says"
                                    : "enabled is not written: Harness would run without a sandbox; the policy is what the table says");
  to.docker_image = from.docker_image;
  switch (from.mode) {
    case Mode::none:
      to.policy.sandbox_profile = Profile::unrestricted;
      to.backend = "none";
      to.not_expressed.push_back("mode 'none' means no boundary: paths, hosts and network_access are carried but not enforced");
      return;
    case Mode::process: to.policy.sandbox_profile = Profile::worktree; break;
    case Mode::docker:
      to.policy.sandbox_profile = Profile::worktree;
      to.backend = "docker";
      break;
  }
  if (from.mode != Mode::docker && !from.docker_image.empty())
    to.not_expressed.push_back(fmt::format("docker_image {} has no effect in mode 'process'", base::quoted(from.docker_image)));
}

std::uint64_t limit_of(std::string_view name, const std::optional<std::uint64_t>& written, std::uint64_t otherwise, Imported& to) {
  if (!written) to.notes.push_back(fmt::format("{} is not written: the Harness default {} applies", name, otherwise));
  return written.value_or(otherwise);
}

void lower_limits(const Sandbox& from, Imported& to) {
  Limits& limits = to.policy.limits;
  if (from.mode == Mode::none) {
    limits.max_memory_mb = from.max_memory_mb;
    limits.max_cpu_seconds = from.max_cpu_seconds;
    limits.max_processes = from.max_processes;
    limits.max_file_size_mb = from.max_file_size_mb;
    return;
  }
  const auto defaults = harness_limits();
  limits.max_memory_mb = limit_of("max_memory_mb", from.max_memory_mb, *defaults.max_memory_mb, to);
  limits.max_cpu_seconds = limit_of("max_cpu_seconds", from.max_cpu_seconds, *defaults.max_cpu_seconds, to);
  limits.max_processes = limit_of("max_processes", from.max_processes, *defaults.max_processes, to);
  limits.max_file_size_mb = limit_of("max_file_size_mb", from.max_file_size_mb, *defaults.max_file_size_mb, to);
}

void lower_network(const Sandbox& from, Imported& to) {
  Network network{.mode = NetworkMode::limited, .allowed_hosts = {}, .loopback = false, .blocked_ports = from.blocked_ports};
  const bool access = from.network_access.value_or(false);
  if (access && !from.allowed_hosts) network.mode = NetworkMode::unrestricted;
  if (access && from.allowed_hosts) network.allowed_hosts = *from.allowed_hosts;
  if (!access && from.allowed_hosts && !from.allowed_hosts->empty())
    to.not_expressed.push_back("allowed_hosts has no effect while network_access is false");
  if (access && from.allowed_hosts && from.allowed_hosts->empty())
    to.notes.push_back("allowed_hosts is an empty list: no host can be reached although network_access is true");
  const bool reaches = network.mode == NetworkMode::unrestricted || !network.allowed_hosts.empty();
  to.policy.side_effect_level = reaches ? SideEffectLevel::network : SideEffectLevel::process_exec;
  to.policy.network = std::move(network);
}

Status lower_paths(const Sandbox& from, const AbsPath& project_root, Imported& to) {
  if (!from.allowed_paths) {
    to.notes.push_back("allowed_paths is not written: the project root is the workspace");
    return {};
  }
  std::vector<AbsPath> roots;
  for (const std::string& text : *from.allowed_paths) {
    HARN_TRY(path, AbsPath::parse(looks_absolute(text) ? text : project_root.text() + "/" + text));
    roots.push_back(std::move(path));
  }
  to.policy.workspace_roots = std::move(roots);
  return {};
}

void lower_env(const Sandbox& from, Imported& to) {
  EnvRules& env = to.policy.env;
  env.strip = from.strip_env;
  if (from.env_passthrough) env.passthrough.emplace();
  for (const std::string& name : entries(from.env_passthrough)) {
    if (always_stripped(name))
      to.not_expressed.push_back(fmt::format("env_passthrough names {}, which nothing can pass", base::quoted(name)));
    else env.passthrough->insert(name);
  }
  if (from.mode != Mode::docker) return;
  env.mode = EnvMode::replace;
  to.notes.push_back("mode 'docker' starts from an empty environment: only env_passthrough is carried into the container");
}

}  // namespace

Result<std::string> read_image(const Value& value, const Place& at) {
  const bool text = value.is(base::ValueKind::string);
  // The name becomes a word of a docker command line.
  if (!text || value.string().empty() || value.string().front() == '-' ||
      value.string().find_first_of(std::string_view(" \t\r\n\0", 5)) != std::string::npos)
    return at.expected("the name of an image", value, "for example \"python:3.12-slim\"");
  return value.string();
}

Result<Imported> import_harness(const base::Value& root, const DialectContext& context) {
  const TextContext text{.home = context.home, .file_name = context.file_name};
  const Place at(text, TextFormat::toml, root.mark);
  if (!root.is(base::ValueKind::object)) return at.expected_table(root);
  const Value* table = root.find("sandbox");
  if (table == nullptr) return at.wrong("the file has no [sandbox] table", "import .harness/config.toml of a project that configures one");
  Sandbox sandbox;
  HARN_OK(read_members(*table, at.member("sandbox", table->mark), members, sandbox));

  Imported imported;
  lower_mode(sandbox, imported);
  lower_limits(sandbox, imported);
  lower_network(sandbox, imported);
  HARN_OK(lower_paths(sandbox, context.project_root, imported));
  lower_env(sandbox, imported);
  imported.policy.blocked_commands = sandbox.blocked_commands;
  for (const base::Member& member : root.object())
    if (member.name != "sandbox") imported.not_expressed.push_back(fmt::format("{} is not about the sandbox", base::quoted(member.name)));
  HARN_OK(validate(imported.policy));
  return imported;
}

}  // namespace policy

}  // namespace harn
