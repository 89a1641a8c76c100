// SPDX-License-Identifier: Apache-2.0
// What unset members mean, canonical form, cross-member validation, digest.
#include "harn/policy.h"

#include <algorithm>

#include "base/sha256.h"
#include "base/text.h"
#include "harn/policy_text.h"
#include "policy/hosts.h"
#include "policy/names.h"
#include "policy/path_model.h"

namespace harn {
namespace {

std::set<Preset> all_presets() {
  return {Preset::system_runtime, Preset::developer_toolchains, Preset::package_manager_config, Preset::user_temp};
}

void canonicalise_paths(Policy& policy) {
  const policy::PathModel model(policy);
  auto lists = policy::meet_paths(model, model);
  // An unset workspace stays unset: it is the project root, which only the loader knows.
  if (policy.workspace_roots) policy.workspace_roots = std::move(lists.workspace);
  policy::put_path_lists(std::move(lists), policy);
}

void canonicalise_presets(ProcessSandbox& sandbox, bool named) {
  sandbox.package_tokens.reset();
  if (named && !sandbox.presets) sandbox.presets = all_presets();
  if (named || !sandbox.presets) return;
  if (sandbox.presets == all_presets()) sandbox.presets.reset();
  else if (!sandbox.presets->empty()) sandbox.package_tokens = false;
}

void canonicalise_sockets(std::optional<std::vector<UnixSocket>>& list) {
  if (!list) return;
  auto& sockets = *list;
  std::sort(sockets.begin(), sockets.end(),
            [](const auto& a, const auto& b) { return a.path != b.path ? a.path < b.path : a.allow_dangerous > b.allow_dangerous; });
  const auto same_path = [](const auto& a, const auto& b) { return a.path == b.path; };
  sockets.erase(std::unique(sockets.begin(), sockets.end(), same_path), sockets.end());
}

void canonicalise_credentials(std::optional<std::vector<AbsPath>>& list) {
  if (!list) return;
  std::sort(list->begin(), list->end());
  list->erase(std::unique(list->begin(), list->end()), list->end());
}

// A whole policy with an empty list grants what one without it grants.
template <class List>
void unset_if_empty(std::optional<List>& list) {
  if (list && list->empty()) list.reset();
}

void canonicalise_network(Policy& policy) {
  if (!policy.network) return;
  auto& network = *policy.network;
  // Below the network level nothing is reachable, whatever is listed.
  if (policy.level() < SideEffectLevel::network) {
    network.mode = NetworkMode::limited;
    network.allowed_hosts.clear();
  }
  if (network.mode == NetworkMode::unrestricted) network.allowed_hosts.clear();
  network.allowed_hosts = policy::canonical_hosts(std::move(network.allowed_hosts));
  if (network == Network{}) policy.network.reset();
}

Error wrong(std::string where, std::string message, std::string hint) {
  return {.code = ErrorCode::invalid_policy,
          .stage = Stage::parse,
          .message = std::move(message),
          .hint = std::move(hint),
          .where = std::move(where)};
}

}  // namespace

Capabilities Capabilities::all() {
  return {.workspace = {WorkspaceOp::read_text, WorkspaceOp::list, WorkspaceOp::exists, WorkspaceOp::write_text, WorkspaceOp::delete_},
          .process = {ProcessOp::exec}};
}

// Asked for all the time, so what unset members mean is made once.
const Capabilities& Policy::effective_capabilities() const {
  static const Capabilities unset = Capabilities::all();
  return capabilities ? *capabilities : unset;
}

const Network& Policy::effective_network() const {
  static const Network unset;
  return network ? *network : unset;
}

const std::set<Preset>& Policy::effective_presets() const {
  static const std::set<Preset> unset = all_presets();
  return process_sandbox.presets ? *process_sandbox.presets : unset;
}

bool Policy::names_presets() const { return process_sandbox.package_tokens.value_or(process_sandbox.presets.has_value()); }

bool Policy::exposes_package_tokens() const { return names_presets() && effective_presets().contains(Preset::package_manager_config); }

bool Policy::may_read() const {
  if (level() < SideEffectLevel::read_only) return false;
  const auto& held = effective_capabilities().workspace;
  return held.contains(WorkspaceOp::read_text) || held.contains(WorkspaceOp::list) || held.contains(WorkspaceOp::exists);
}

bool Policy::may_write() const {
  return level() >= SideEffectLevel::workspace_write && effective_capabilities().workspace.contains(WorkspaceOp::write_text);
}

bool Policy::may_delete() const {
  return level() >= SideEffectLevel::workspace_write && effective_capabilities().workspace.contains(WorkspaceOp::delete_);
}

bool Policy::may_exec() const {
  return level() >= SideEffectLevel::process_exec && effective_capabilities().process.contains(ProcessOp::exec);
}

Policy with_project_root(Policy policy, const AbsPath& project_root) {
  if (!policy.workspace_roots) policy.workspace_roots = {project_root};
  return policy;
}

Policy canonical(Policy policy) {
  if (policy.profile() == Profile::worktree) policy.sandbox_profile.reset();
  if (policy.level() == SideEffectLevel::process_exec) policy.side_effect_level.reset();
  if (policy.capabilities == Capabilities::all()) policy.capabilities.reset();
  canonicalise_paths(policy);
  auto& sandbox = policy.process_sandbox;
  canonicalise_presets(sandbox, policy.names_presets());
  canonicalise_sockets(sandbox.unix_sockets);
  canonicalise_credentials(sandbox.credentials);
  canonicalise_network(policy);
  if (policy.env.mode == EnvMode::inherit) policy.env.mode.reset();
  unset_if_empty(sandbox.unix_sockets);
  unset_if_empty(sandbox.credentials);
  unset_if_empty(policy.env.passthrough);
  return policy;
}

Status validate(const Policy& policy) {
  if (!policy.network) return {};
  const auto& network = *policy.network;
  const bool reaches = network.mode == NetworkMode::unrestricted || !network.allowed_hosts.empty();
  if (reaches && policy.level() < SideEffectLevel::network) {
    const auto what = network.mode == NetworkMode::unrestricted
                          ? std::string("network.mode is 'unrestricted'")
                          : "network.allowed_hosts names " + base::quoted(policy::text_of(network.allowed_hosts.front()));
    return fail(wrong("network", what + " but side_effect_level is '" + std::string(base::enum_name(policy.level())) + "'",
                      "set side_effect_level = \"network\", or remove the network grant"));
  }
  if (network.mode == NetworkMode::unrestricted && !network.allowed_hosts.empty())
    return fail(wrong("network.allowed_hosts", "network.allowed_hosts has no effect with mode 'unrestricted'",
                      "use mode = \"limited\" to reach only these hosts"));
  return {};
}

std::string digest(const Policy& policy) { return "policy-" + base::sha256_hex(canonical_policy_json(policy)).substr(0, 24); }

Result<Policy> for_nested_run(Policy policy) {
  if (!policy.recursion_limit) return policy;
  if (*policy.recursion_limit == 0)
    return fail(Error{.code = ErrorCode::refused,
                      .stage = Stage::compose,
                      .message = "a nested run is refused: recursion_limit is 0",
                      .hint = "raise recursion_limit in the outer policy"});
  --*policy.recursion_limit;
  return policy;
}

}  // namespace harn
