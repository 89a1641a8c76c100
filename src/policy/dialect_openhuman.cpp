// SPDX-License-Identifier: Apache-2.0
// An OpenHuman agent file. Only its sandbox settings are read; a file that asks for a sandbox and
// at the same time for a backend that is none is refused, because one of the two would be ignored.
#include <fmt/format.h>

#include "base/text.h"
#include "policy/dialects.h"

namespace harn {
namespace policy {
namespace {

enum class AgentSandbox : std::uint8_t {
  none,
  read_only,
  sandboxed
};
enum class AgentNetwork : std::uint8_t {
  none,
  restricted,
  allowed
};
enum class AgentBackend : std::uint8_t {
  automatic,
  landlock,
  bubblewrap,
  firejail,
  docker,
  none
};

}  // namespace
}  // namespace policy

template <>
struct base::EnumNames<policy::AgentSandbox> {
  static constexpr std::array names{std::pair{policy::AgentSandbox::none, std::string_view("none")},
                                    std::pair{policy::AgentSandbox::read_only, std::string_view("read_only")},
                                    std::pair{policy::AgentSandbox::sandboxed, std::string_view("sandboxed")}};
};

template <>
struct base::EnumNames<policy::AgentNetwork> {
  static constexpr std::array names{std::pair{policy::AgentNetwork::none, std::string_view("none")},
                                    std::pair{policy::AgentNetwork::restricted, std::string_view("restricted")},
                                    std::pair{policy::AgentNetwork::allowed, std::string_view("allowed")}};
};

template <>
struct base::EnumNames<policy::AgentBackend> {
  static constexpr std::array names{std::pair{policy::AgentBackend::automatic, std::string_view("auto")},
                                    std::pair{policy::AgentBackend::landlock, std::string_view("landlock")},
                                    std::pair{policy::AgentBackend::bubblewrap, std::string_view("bubblewrap")},
                                    std::pair{policy::AgentBackend::firejail, std::string_view("firejail")},
                                    std::pair{policy::AgentBackend::docker, std::string_view("docker")},
                                    std::pair{policy::AgentBackend::none, std::string_view("none")}};
};

namespace policy {
namespace {

struct Agent {
  std::optional<AgentSandbox> sandbox_mode = {};
  std::optional<AgentNetwork> network = {};
  std::optional<std::vector<HostRule>> allowed_hosts = {};
  std::optional<AgentBackend> backend = {};
  std::optional<bool> enabled = {};
  bool has_firejail_args = false;
};

Status skip_firejail_args(const Value&, const Place&, Agent& agent) {
  agent.has_firejail_args = true;
  return {};
}

// A setting may stand at the top or in [sandbox], but not in both: nobody could say which one holds.
template <class Shape, auto field>
Status read_once(const Value& value, const Place& at, Agent& agent) {
  if (agent.*field) return at.wrong(fmt::format("{} is written twice, at the top and in [sandbox]", at.name()), "keep one of them");
  return read_into<Shape, field>(value, at, agent);
}

constexpr std::array<ForeignMember<Agent>, 4> top_members{{
    {"sandbox_mode", read_once<Word<AgentSandbox>, &Agent::sandbox_mode>},
    {"network", read_once<Word<AgentNetwork>, &Agent::network>},
    {"allowed_hosts", read_once<Hosts, &Agent::allowed_hosts>},
    {"backend", read_once<Word<AgentBackend>, &Agent::backend>},
}};

constexpr std::array<ForeignMember<Agent>, 5> sandbox_members{{
    {"enabled", read_once<Flag, &Agent::enabled>},
    {"backend", read_once<Word<AgentBackend>, &Agent::backend>},
    {"network", read_once<Word<AgentNetwork>, &Agent::network>},
    {"allowed_hosts", read_once<Hosts, &Agent::allowed_hosts>},
    {"firejail_args", skip_firejail_args},
}};

Status read_top(const Value& root, const Place& at, Agent& agent, Imported& to) {
  std::array<std::string_view, top_members.size() + 1> names{};
  std::transform(top_members.begin(), top_members.end(), names.begin(), [](const auto& member) { return member.name; });
  names.back() = "sandbox";
  for (const base::Member& member : root.object()) {
    const auto* row = std::find_if(top_members.begin(), top_members.end(), [&](const auto& r) { return r.name == member.name; });
    const Place inner = at.member(member.name, member.value.mark);
    if (row != top_members.end()) {
      HARN_OK(row->read(member.value, inner, agent));
    } else if (member.name == "sandbox") {
      HARN_OK(read_members(member.value, inner, sandbox_members, agent));
    } else if (!base::nearest_name(member.name, names).empty()) {
      return at.unknown_member(member, names);  // a typo must not turn a sandbox setting into a foreign one
    } else {
      to.not_expressed.push_back(fmt::format("{} is not about the sandbox", base::quoted(member.name)));
    }
  }
  return {};
}

Status check_consistent(const Agent& agent, const Place& at) {
  if (!agent.sandbox_mode) return at.wrong("the file has no sandbox_mode", "write sandbox_mode = \"none\", \"read_only\" or \"sandboxed\"");
  const bool off = agent.backend == AgentBackend::none || agent.enabled == false;
  if (off && *agent.sandbox_mode != AgentSandbox::none)
    return at.wrong(fmt::format("sandbox_mode is '{}' but {}", base::enum_name(*agent.sandbox_mode),
                                agent.backend == AgentBackend::none ? "backend is 'none'" : "sandbox.enabled is false"),
                    "choose a backend, or write sandbox_mode = \"none\"");
  if (agent.allowed_hosts && agent.network != AgentNetwork::restricted)
    return at.wrong("allowed_hosts has no effect unless network is 'restricted'", "write network = \"restricted\", or remove the list");
  return {};
}

void lower_mode(AgentSandbox mode, const AbsPath& project_root, Imported& to) {
  Policy& policy = to.policy;
  switch (mode) {
    case AgentSandbox::none:
      policy.sandbox_profile = Profile::unrestricted;
      to.enabled = false;
      break;
    case AgentSandbox::read_only:
      policy.sandbox_profile = Profile::worktree;
      policy.capabilities =
          Capabilities{.workspace = {WorkspaceOp::read_text, WorkspaceOp::list, WorkspaceOp::exists}, .process = {ProcessOp::exec}};
      policy.workspace_roots = std::vector<AbsPath>{};
      policy.read_only_roots = {project_root};
      to.notes.push_back("sandbox_mode 'read_only': commands run, and nothing they do can write");
      break;
    case AgentSandbox::sandboxed:
      policy.sandbox_profile = Profile::os_hardened;
      to.notes.push_back("sandbox_mode 'sandboxed': os_hardened with the project root as writable workspace");
      break;
  }
}

void lower_network(const Agent& agent, Imported& to) {
  const bool confined = agent.sandbox_mode != AgentSandbox::none;
  if (!agent.network)
    to.notes.push_back(confined ? "network is not written: nothing can be reached"
                                : "network is not written: without a sandbox everything can be reached");
  if (!confined && agent.network && *agent.network != AgentNetwork::allowed)
    to.not_expressed.push_back(fmt::format("network '{}' is not enforced: sandbox_mode is 'none'", base::enum_name(*agent.network)));
  const AgentNetwork wanted = agent.network.value_or(confined ? AgentNetwork::none : AgentNetwork::allowed);
  Network network;
  if (wanted == AgentNetwork::allowed) network.mode = NetworkMode::unrestricted;
  if (wanted == AgentNetwork::restricted) network.allowed_hosts = agent.allowed_hosts.value_or(std::vector<HostRule>{});
  if (wanted == AgentNetwork::restricted && network.allowed_hosts.empty())
    to.notes.push_back("network 'restricted' names no allowed_hosts: nothing can be reached");
  const bool reaches = wanted == AgentNetwork::allowed || !network.allowed_hosts.empty();
  to.policy.side_effect_level = reaches ? SideEffectLevel::network : SideEffectLevel::process_exec;
  to.policy.network = std::move(network);
}

std::string backend_of(const Agent& agent) {
  if (agent.enabled == false) return "none";
  const AgentBackend backend = agent.backend.value_or(AgentBackend::automatic);
  return backend == AgentBackend::landlock ? "linux" : std::string(base::enum_name(backend));
}

}  // namespace

Result<Imported> import_openhuman(const base::Value& root, const DialectContext& context) {
  const TextContext text{.home = context.home, .file_name = context.file_name};
  const Place at(text, TextFormat::toml, root.mark);
  if (!root.is(base::ValueKind::object)) return at.expected_table(root);
  Agent agent;
  Imported imported;
  HARN_OK(read_top(root, at, agent, imported));
  HARN_OK(check_consistent(agent, at));

  lower_mode(*agent.sandbox_mode, context.project_root, imported);
  lower_network(agent, imported);
  imported.backend = backend_of(agent);
  if (agent.backend == AgentBackend::landlock)
    imported.notes.push_back("backend 'landlock' is the 'linux' backend, which uses Landlock and more");
  if (agent.has_firejail_args) imported.not_expressed.push_back("sandbox.firejail_args are not passed on: the plan decides the arguments");
  HARN_OK(validate(imported.policy));
  return imported;
}

}  // namespace policy
}  // namespace harn
