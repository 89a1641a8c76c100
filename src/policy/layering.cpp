// SPDX-License-Identifier: Apache-2.0
// Composition of policy layers. Everything untrusted goes through within() or intersect(); only the
// operator's own layers are laid over.
#include "harn/layering.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace harn {
namespace {

// How a list that grants something combines with the one beneath it.
enum class GrantLists : std::uint8_t {
  replace,
  add
};

template <class T>
void lay(std::optional<T>& under, const std::optional<T>& over) {
  if (over) under = over;
}

// An unset list leaves the one beneath alone; an empty one is a word too and ends it, whoever says it.
template <class List>
bool replaces(const std::optional<List>& over, GrantLists lists) {
  return over && (lists == GrantLists::replace || over->empty());
}

template <class T>
void add(std::optional<std::vector<T>>& under, const std::vector<T>& over) {
  if (!under) under.emplace();
  under->insert(under->end(), over.begin(), over.end());
}

template <class T>
void add(std::optional<std::set<T>>& under, const std::set<T>& over) {
  if (!under) under.emplace();
  under->insert(over.begin(), over.end());
}

template <class List>
void lay(std::optional<List>& under, const std::optional<List>& over, GrantLists lists) {
  if (!over) return;
  if (replaces(over, lists)) under.reset();
  add(under, *over);
}

using PathList = std::optional<std::vector<AbsPath>>;

// Read-only paths inside writable ones take something away, so naming others does not drop them.
void lay_read_only(PathList& under, const PathList& over, GrantLists lists, const std::set<AbsPath>& writable) {
  if (!over) return;
  if (under && replaces(over, lists))
    std::erase_if(*under, [&](AbsPath path) {
      while (!path.is_root() && !writable.contains(path)) path = path.parent();
      return !writable.contains(path);
    });
  add(under, *over);
}

std::set<AbsPath> writable_roots(const Policy& policy) {
  std::set<AbsPath> roots;
  for (const auto* list : {&policy.process_sandbox.write_roots, &policy.workspace_roots})
    roots.insert(entries(*list).begin(), entries(*list).end());
  return roots;
}

template <class T>
void unite(std::set<T>& under, const std::set<T>& over) {
  under.insert(over.begin(), over.end());
}

void lay_sandbox(ProcessSandbox& under, const ProcessSandbox& over, GrantLists lists) {
  // Whether tokens are exposed belongs to the sentence that names the presets.
  if (over.presets) under.package_tokens.reset();
  lay(under.presets, over.presets);
  lay(under.package_tokens, over.package_tokens);
  lay(under.write_roots, over.write_roots, lists);
  under.read_deny_roots.insert(under.read_deny_roots.end(), over.read_deny_roots.begin(), over.read_deny_roots.end());
  lay(under.unix_sockets, over.unix_sockets, lists);
  lay(under.credentials, over.credentials, lists);
}

void lay_network(Policy& under, const Policy& over) {
  const bool lowered = over.side_effect_level && *over.side_effect_level < SideEffectLevel::network;
  std::optional<Network>& network = under.network;
  const std::set<std::uint16_t> blocked = network ? network->blocked_ports : std::set<std::uint16_t>{};
  lay(network, over.network);
  if (!network) return;
  unite(network->blocked_ports, blocked);
  // A layer that only lowers the level means its hosts too; they would contradict each other.
  if (lowered && !over.network) {
    network->mode = NetworkMode::limited;
    network->allowed_hosts.clear();
  }
}

void lay_limits(Limits& under, const Limits& over) {
  lay(under.max_memory_mb, over.max_memory_mb);
  lay(under.max_cpu_seconds, over.max_cpu_seconds);
  lay(under.max_processes, over.max_processes);
  lay(under.max_file_size_mb, over.max_file_size_mb);
  lay(under.max_output_bytes, over.max_output_bytes);
  lay(under.max_open_files, over.max_open_files);
  lay(under.cpu_milli, over.cpu_milli);
  lay(under.wall_time, over.wall_time);
  lay(under.idle_timeout, over.idle_timeout);
}

void lay_env(EnvRules& under, const EnvRules& over, GrantLists lists) {
  lay(under.mode, over.mode);
  for (const auto& [name, value] : over.set) under.set[name] = value;
  unite(under.remove, over.remove);
  unite(under.strip, over.strip);
  lay(under.passthrough, over.passthrough, lists);
}

Policy laid_over(Policy under, const std::optional<Policy>& written, GrantLists lists) {
  if (!written) return under;
  const Policy& over = *written;
  const std::set<AbsPath> writable = writable_roots(under);
  lay_read_only(under.read_only_roots, over.read_only_roots, lists, writable);
  lay_read_only(under.process_sandbox.read_roots, over.process_sandbox.read_roots, lists, writable);
  lay(under.sandbox_profile, over.sandbox_profile);
  lay(under.side_effect_level, over.side_effect_level);
  lay(under.capabilities, over.capabilities);
  lay(under.workspace_roots, over.workspace_roots);
  lay(under.unprotect, over.unprotect, lists);
  lay_sandbox(under.process_sandbox, over.process_sandbox, lists);
  lay_network(under, over);
  lay_limits(under.limits, over.limits);
  lay_env(under.env, over.env, lists);
  unite(under.blocked_commands, over.blocked_commands);
  lay(under.recursion_limit, over.recursion_limit);
  return under;
}

std::unexpected<Error> refuse(std::string message, std::string hint) {
  return fail(Error{.code = ErrorCode::refused, .stage = Stage::compose, .message = std::move(message), .hint = std::move(hint)});
}

// What default and user config allow: the bound of every project file.
Policy operator_allows(const PolicyLayers& layers) {
  return laid_over(with_project_root({}, layers.project_root), layers.user, GrantLists::replace);
}

Policy project_asks(const PolicyLayers& layers) { return laid_over(operator_allows(layers), layers.project, GrantLists::replace); }

bool is_trusted(const PolicyLayers& layers) {
  return !layers.project_digest.empty() && layers.trusted_digests.contains(layers.project_digest);
}

std::string listed(const std::vector<Widening>& widenings) {
  std::vector<std::string> parts;
  parts.reserve(widenings.size());
  for (const Widening& widening : widenings)
    parts.push_back(fmt::format("{} {} (allowed: {})", widening.member, widening.requested, widening.ceiling));
  return base::join(parts, "; ");
}

Status check_project(const PolicyLayers& layers, const std::vector<Widening>& widenings) {
  if (layers.project && !entries(layers.project->unprotect).empty())
    return refuse(fmt::format("the project file may not unprotect {}", base::quoted(layers.project->unprotect->front().text())),
                  "only the operator can, with --unprotect or in the user config");
  if (widenings.empty() || is_trusted(layers)) return {};
  return refuse(fmt::format("the project file asks for more than you allow: {}", listed(widenings)),
                "run 'harn trust' to accept this file as it is, or remove what it adds");
}

// What nobody means as a project.
std::string_view too_wide(const AbsPath& root, const AbsPath& home) {
  if (root.is_root()) return "the whole file system";
  if (root == home) return "your whole home directory";
  if (root.contains(home)) return "which holds your home directory";
  for (const auto* shared : {"/tmp", "/var/tmp", "/dev/shm"})
    if (root.text() == shared) return "which everybody on this machine shares";
  return {};
}

// Handing out all of / or of the home directory has to be somebody's words, not where they stood.
Status check_workspace(const PolicyLayers& layers, const Policy& policy) {
  if (layers.flags && layers.flags->workspace_roots) return {};
  for (const AbsPath& root : entries(policy.workspace_roots))
    if (const auto whose = too_wide(root, layers.home); !whose.empty())
      return refuse(fmt::format("the workspace would be {}, {}", base::quoted(root.text()), whose),
                    fmt::format("run inside a project, or name it with --write {}", base::shell_word(root.text())));
  return {};
}

}  // namespace

std::vector<Widening> project_widenings(const PolicyLayers& layers) {
  if (!layers.project) return {};
  return within(operator_allows(layers), project_asks(layers));
}

Result<Composed> compose_layers(const PolicyLayers& layers) {
  Composed composed;
  composed.trusted = project_widenings(layers);
  HARN_OK(check_project(layers, composed.trusted));

  Policy asked = project_asks(layers);
  HARN_OK(validate(asked));
  if (layers.project) {
    auto narrowed = intersect(operator_allows(layers), asked);
    std::erase_if(narrowed.narrowing, [](const NarrowingItem& item) { return item.lost_by != Side::ceiling; });
    composed.project_narrowing = std::move(narrowed.narrowing);
    // Untrusted, the meet is taken although nothing widens: only what survives it can go on.
    if (!is_trusted(layers)) asked = std::move(narrowed.policy);
  }

  Policy wanted = laid_over(std::move(asked), layers.flags, GrantLists::add);
  HARN_OK(validate(wanted));
  HARN_OK(check_workspace(layers, wanted));
  composed.policy = canonical(wanted);
  if (layers.system_ceiling) {
    auto bounded = intersect(with_project_root(*layers.system_ceiling, layers.project_root), wanted);
    composed.policy = std::move(bounded.policy);
    std::erase_if(bounded.narrowing, [](const NarrowingItem& item) { return item.lost_by != Side::requested; });
    composed.narrowing = std::move(bounded.narrowing);
  }
  return composed;
}

}  // namespace harn
