// SPDX-License-Identifier: Apache-2.0
// The rows of the member table. A row is a shape, a field and three texts.
#include "policy/member_table.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "policy/names.h"
#include "policy/shapes.h"

namespace harn::policy {
namespace {

// Bounds that leave room for the arithmetic of every backend: a PiB counted in MiB or bytes, a
// decade counted in seconds.
constexpr std::uint64_t max_mebibytes = std::uint64_t{1} << 30;
constexpr std::uint64_t max_seconds = std::uint64_t{10} * 366 * 86'400;
constexpr std::uint64_t max_process_ids = std::uint64_t{1} << 22;
constexpr std::uint64_t max_descriptors = std::uint64_t{1} << 30;

struct About {
  std::string_view name = {};
  std::string_view description = {};
  std::string_view unset = {};
};

enum class Printed : std::uint8_t {
  when_set,
  always
};

template <class Shape, class T>
Value print_field(const std::optional<T>& field, Printed) {
  return field ? Shape::print(*field) : Value();
}

template <class Shape, class T>
Value print_field(const T& field, Printed when) {
  return when == Printed::always || field != T{} ? Shape::print(field) : Value();
}

template <class Shape, auto field, Printed when = Printed::when_set>
constexpr MemberRow leaf(About about) {
  return MemberRow{.name = about.name,
                   .description = about.description,
                   .unset = about.unset,
                   .read = [](const Value& value, const Place& at, Policy& policy) -> Status {
                     HARN_TRY(read, Shape::read(value, at));
                     field(policy) = std::move(read);
                     return {};
                   },
                   .print = [](const Policy& policy) { return print_field<Shape>(field(policy), when); },
                   .schema = &Shape::schema};
}

constexpr MemberRow nullable(MemberRow member) {
  member.nullable = true;
  return member;
}

using AnyCount = std::uint64_t;

constexpr std::array capability_members{
    leaf<Words<WorkspaceOp>, [](auto& p) -> auto& { return p.capabilities->workspace; }, Printed::always>(
        {"workspace", "File operations allowed inside the granted roots.", "none of them"}),
    leaf<Words<ProcessOp>, [](auto& p) -> auto& { return p.capabilities->process; }, Printed::always>(
        {"process", "Whether commands may be started.", "none may"}),
};

constexpr std::array process_sandbox_members{
    nullable(leaf<Words<Preset>, [](auto& p) -> auto& { return p.process_sandbox.presets; }>(
        {"presets", "Named sets of paths a toolchain needs.", "all four; an empty list means none"})),
    leaf<Flag, [](auto& p) -> auto& { return p.process_sandbox.package_tokens; }>(
        {"package_tokens", "Whether package_manager_config also opens .netrc, .npmrc, .pypirc and .cargo/credentials.",
         "only when that preset is named"}),
    leaf<Paths, [](auto& p) -> auto& { return p.process_sandbox.read_roots; }>(
        {"read_roots", "Further paths a spawned process may read.", "none"}),
    leaf<Paths, [](auto& p) -> auto& { return p.process_sandbox.write_roots; }>(
        {"write_roots", "Further paths a spawned process may write, where the policy allows writes at all.", "none"}),
    leaf<Paths, [](auto& p) -> auto& { return p.process_sandbox.read_deny_roots; }>(
        {"read_deny_roots", "Paths a spawned process may not read, inside whatever is granted.", "none"}),
    leaf<Sockets, [](auto& p) -> auto& { return p.process_sandbox.unix_sockets; }>(
        {"unix_sockets", "Unix sockets a spawned process may connect to; one that hands out root needs allow_dangerous.", "none"}),
    leaf<Paths, [](auto& p) -> auto& { return p.process_sandbox.credentials; }>(
        {"credentials", "Built-in credential paths to expose, each by its exact path.", "none"}),
};

constexpr std::array network_members{
    leaf<Word<NetworkMode>, [](auto& p) -> auto& { return p.network->mode; }, Printed::always>(
        {"mode", "Whether only named hosts or every host can be reached.", "limited"}),
    leaf<Hosts, [](auto& p) -> auto& { return p.network->allowed_hosts; }>(
        {"allowed_hosts", "Hosts that can be reached: host, host:port, *.suffix, IP, CIDR or URL. Only with mode limited.", "none"}),
    leaf<Flag, [](auto& p) -> auto& { return p.network->loopback; }>(
        {"loopback", "Whether the sandbox has a loopback interface of its own.", "false"}),
    leaf<Ports, [](auto& p) -> auto& { return p.network->blocked_ports; }>(
        {"blocked_ports", "Ports that cannot be reached on any host.", "none"}),
};

constexpr std::array limits_members{
    leaf<Count<AnyCount, 1, max_mebibytes>, [](auto& p) -> auto& { return p.limits.max_memory_mb; }>(
        {"max_memory_mb", "Memory of the whole process tree, in MiB.", "no limit"}),
    leaf<Count<AnyCount, 1, max_seconds>, [](auto& p) -> auto& { return p.limits.max_cpu_seconds; }>(
        {"max_cpu_seconds", "Processor time of the whole process tree, in seconds.", "no limit"}),
    leaf<Count<AnyCount, 1, max_process_ids>, [](auto& p) -> auto& { return p.limits.max_processes; }>(
        {"max_processes", "Processes and threads alive at once.", "no limit"}),
    leaf<Count<AnyCount, 1, max_mebibytes>, [](auto& p) -> auto& { return p.limits.max_file_size_mb; }>(
        {"max_file_size_mb", "Size of one written file, in MiB.", "no limit"}),
    leaf<Bytes, [](auto& p) -> auto& { return p.limits.max_output_bytes; }>(
        {"max_output_bytes", "Captured output; the command keeps running when it is exceeded.", "no limit"}),
    leaf<Count<AnyCount, 1, max_descriptors>, [](auto& p) -> auto& { return p.limits.max_open_files; }>(
        {"max_open_files", "Open files of one process.", "no limit"}),
    leaf<Processors, [](auto& p) -> auto& { return p.limits.cpu_milli; }>(
        {"cpu_count", "Processors the tree may use at once; 1.5 is one and a half.", "no limit"}),
    leaf<Duration, [](auto& p) -> auto& { return p.limits.wall_time; }>(
        {"wall_time", "Time until the command is stopped: 500ms, 30s, 2m, 1h or a number of seconds.", "no limit"}),
    leaf<Duration, [](auto& p) -> auto& { return p.limits.idle_timeout; }>(
        {"idle_timeout", "Time without activity until a session is stopped.", "no limit"}),
};

constexpr std::array env_members{
    leaf<Word<EnvMode>, [](auto& p) -> auto& { return p.env.mode; }>(
        {"mode", "Start from the caller's environment (inherit, patch) or from nothing (replace).", "inherit"}),
    leaf<Variables, [](auto& p) -> auto& { return p.env.set; }>({"set", "Variables to set.", "none"}),
    leaf<Texts<TextRule::variable>, [](auto& p) -> auto& { return p.env.remove; }>(
        {"remove", "Variables to remove, by exact name.", "none"}),
    leaf<Texts<TextRule::variable>, [](auto& p) -> auto& { return p.env.passthrough; }>(
        {"passthrough", "Variables that look like secrets and are passed on nevertheless, by exact name.", "none"}),
    leaf<Texts<TextRule::variable_pattern>, [](auto& p) -> auto& { return p.env.strip; }>(
        {"strip", "Further names or patterns that never pass.", "none"}),
};

constexpr std::array top_members{
    leaf<Word<Profile>, [](auto& p) -> auto& { return p.sandbox_profile; }>(
        {"sandbox_profile", "How strictly the boundary is enforced.", "worktree"}),
    leaf<Word<SideEffectLevel>, [](auto& p) -> auto& { return p.side_effect_level; }>(
        {"side_effect_level", "The most a command may affect.", "process_exec"}),
    MemberRow{.name = "capabilities",
              .description = "Operations allowed; a family that is left out allows none of its operations.",
              .unset = "all operations",
              .members = capability_members,
              .open = [](Policy& p) { p.capabilities.emplace(); },
              .present = [](const Policy& p) { return p.capabilities.has_value(); }},
    leaf<Paths, [](auto& p) -> auto& { return p.workspace_roots; }>(
        {"workspace_roots", "Paths that may be read and written.", "the project root; an empty list means none"}),
    leaf<Paths, [](auto& p) -> auto& { return p.read_only_roots; }>({"read_only_roots", "Paths that may be read.", "none"}),
    leaf<Paths, [](auto& p) -> auto& { return p.unprotect; }>(
        {"unprotect", "Protected names inside a writable root that may be written after all.", "none"}),
    MemberRow{.name = "process_sandbox",
              .description = "What a spawned process may open beyond the roots.",
              .unset = "every preset and nothing else",
              .members = process_sandbox_members},
    MemberRow{.name = "network",
              .description = "Who can be reached; needs side_effect_level network.",
              .unset = "limited, no hosts",
              .members = network_members,
              .open = [](Policy& p) { p.network.emplace(); },
              .present = [](const Policy& p) { return p.network.has_value(); }},
    MemberRow{.name = "limits", .description = "Limits of the whole process tree.", .unset = "no limits", .members = limits_members},
    MemberRow{.name = "env",
              .description = "Which environment variables reach the command.",
              .unset = "the caller's, without secrets",
              .members = env_members},
    leaf<Texts<TextRule::command>, [](auto& p) -> auto& { return p.blocked_commands; }>(
        {"blocked_commands", "Commands refused before they start: a courtesy to the agent, not the boundary.", "none"}),
    leaf<Count<std::uint32_t, 0, std::numeric_limits<std::uint32_t>::max()>, [](auto& p) -> auto& { return p.recursion_limit; }>(
        {"recursion_limit", "How many more runs may nest inside this one; 0 refuses the next.", "no limit"}),
};

Value print_members(std::span<const MemberRow> members, const Policy& policy) {
  Value out;
  for (const auto& member : members) {
    Value value;
    if (member.members.empty()) {
      value = member.print(policy);
    } else if (member.present == nullptr || member.present(policy)) {
      value = print_members(member.members, policy);
      if (value.is(base::ValueKind::null) && member.present != nullptr) value = base::Object{};
    }
    if (!value.is(base::ValueKind::null)) out.set(std::string(member.name), std::move(value));
  }
  return out;
}

}  // namespace

std::span<const MemberRow> policy_members() { return top_members; }

Status read_limit(std::string_view name, const Value& value, Policy& policy) {
  const TextContext context;
  const Place text(context, TextFormat::toml, {});
  const auto limits = text.member("limits", {});
  const auto row = std::ranges::find(limits_members, name, &MemberRow::name);
  return row->read(value, limits.member(name, {}), policy);
}

Value policy_value(const Policy& policy) {
  Value value = print_members(top_members, policy);
  if (value.is(base::ValueKind::null)) value = base::Object{};
  return value;
}

}  // namespace harn::policy
