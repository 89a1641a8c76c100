// SPDX-License-Identifier: Apache-2.0
#include "cli/windows/prepare.h"

#include <fmt/format.h>

#include "base/env_names.h"
#include "base/text.h"
#include "cli/canned_hosts.h"
#include "harn/layering.h"
#include "harn/policy_text.h"
#include "harn/probe.h"
#include "harn/prove.h"
#include "host/windows/text_files.h"
#include "plan/names.h"

namespace harn::cli {
namespace {

Result<Policy> parse(const AbsPath& path, const std::string& text, const AbsPath& home) {
  const TextContext context{.home = home, .file_name = path.text()};
  return path.name().ends_with(".json") ? parse_policy_json(text, context) : parse_policy_toml(text, context);
}

// Written down by somebody, and resolved for this host.
Result<std::optional<Policy>> policy_in(const AbsPath& path, const AbsPath& home, std::vector<Policy>& written) {
  HARN_TRY(text, host::text_if_present(path, max_policy_bytes));
  if (!text) return std::optional<Policy>();
  HARN_TRY(policy, parse(path, *text, home));
  written.push_back(policy);
  HARN_TRY(resolved, resolve_policy_paths(std::move(policy)));
  return std::optional<Policy>(std::move(resolved));
}

std::optional<AbsPath> user_file(const Caller& caller) {
  const auto* data = base::find_ignoring_case(caller.environment, "APPDATA");
  auto path = AbsPath::parse(data == nullptr ? "" : *data);
  return path ? std::optional(path->join("harn/config.toml")) : std::nullopt;
}

// Only administrators are meant to write there. Whoever else can may narrow what others run, and never widen it.
AbsPath ceiling_file(const HostFacts& facts) {
  auto volume = facts.home;
  while (!volume.is_root()) volume = volume.parent();
  return volume.join("ProgramData/harn/ceiling.toml");
}

Result<PolicyLayers> layers_here(const Arguments& arguments, const Caller& caller, const PreparedRun& prepared,
                                 std::vector<Policy>& written) {
  const auto& facts = prepared.facts;
  const PathContext context{.cwd = facts.cwd, .home = facts.home};
  PolicyLayers layers{.project_root = facts.project_root, .home = facts.home};
  std::vector<Policy> bounding;
  HARN_TRY(ceiling, policy_in(ceiling_file(facts), facts.home, bounding));
  layers.system_ceiling = std::move(ceiling);
  if (const auto* file = arguments.value("policy")) {
    HARN_TRY(path, path_argument(*file, context));
    HARN_TRY(policy, policy_in(path, facts.home, written));
    if (!policy) return wrong_usage(fmt::format("--policy: {} does not exist", base::quoted(path.text())), "check the spelling");
    layers.user = std::move(policy);
  } else {
    if (const auto settings = user_file(caller)) {
      HARN_TRY(user, policy_in(*settings, facts.home, written));
      layers.user = std::move(user);
    }
    HARN_TRY(project, policy_in(facts.project_root.join("harn.toml"), facts.home, written));
    layers.project = std::move(project);
  }
  HARN_TRY(flags, policy_from_flags(arguments, context));
  written.push_back(flags);
  HARN_TRY(resolved, resolve_policy_paths(std::move(flags)));
  layers.flags = std::move(resolved);
  return layers;
}

Result<PolicyLayers> layers_elsewhere(const Arguments& arguments, const Caller& caller, const HostFacts& facts) {
  PolicyLayers layers{.project_root = facts.project_root, .home = facts.home};
  if (const auto* file = arguments.value("policy")) {
    HARN_TRY(path, path_argument(*file, {.cwd = caller.cwd, .home = facts.home}));
    HARN_TRY(text, host::read_text(path, max_policy_bytes));
    HARN_TRY(policy, parse(path, text, facts.home));
    layers.user = std::move(policy);
  }
  HARN_TRY(flags, policy_from_flags(arguments, {.cwd = facts.cwd, .home = facts.home}));
  layers.flags = std::move(flags);
  return layers;
}

Result<HostFacts> facts_elsewhere(const Arguments& arguments, const Caller& caller) {
  const auto* file = arguments.value("facts");
  if (file == nullptr) return canned_host(*base::enum_value<Platform>(*arguments.value("platform")));
  HARN_TRY(path, path_argument(*file, {.cwd = caller.cwd}));
  HARN_TRY(text, host::read_text(path, max_policy_bytes));
  return facts_from_json(text);
}

Status compose_here(const Arguments& arguments, const Caller& caller, PreparedRun& prepared) {
  std::vector<Policy> written;
  HARN_TRY(layers, layers_here(arguments, caller, prepared, written));
  if (layers.system_ceiling) prepared.options.least_profile = layers.system_ceiling->profile();
  HARN_TRY(composed, compose_layers(layers));
  std::vector<AbsPath> writable = entries(composed.policy.workspace_roots);
  writable.push_back(prepared.facts.project_root);
  HARN_OK(check_planted_links(written, std::move(writable)));
  prepared.policy = std::move(composed.policy);
  prepared.notes = look_at_paths(prepared.facts, prepared.policy);
  prepared.command.environment = caller.environment;
  return {};
}

Status compose_elsewhere(const Arguments& arguments, const Caller& caller, PreparedRun& prepared) {
  HARN_TRY(layers, layers_elsewhere(arguments, caller, prepared.facts));
  HARN_TRY(composed, compose_layers(layers));
  prepared.policy = std::move(composed.policy);
  prepared.command.environment = {{"HOME", prepared.facts.home.text()}};
  return {};
}

}  // namespace

Result<HostFacts> facts_here(const Caller& caller) {
  auto facts = probe_host({.environment = caller.environment, .cwd = caller.cwd});
  HARN_OK(settle_facts(facts, {}));
  return facts;
}

Result<PreparedRun> prepare_run(const Arguments& arguments, const Caller& caller) {
  PreparedRun out;
  HARN_TRY(options, plan_options_from(arguments, caller));
  out.options = std::move(options);
  out.this_host = !arguments.has("platform") && !arguments.has("facts");
  HARN_TRY(facts, out.this_host ? facts_here(caller) : facts_elsewhere(arguments, caller));
  out.facts = std::move(facts);
  out.command.argv = arguments.operands();
  if (const auto* text = arguments.value("cwd")) {
    HARN_TRY(cwd, path_argument(*text, {.cwd = out.facts.cwd, .home = out.facts.home}));
    out.command.cwd = std::move(cwd);
  }
  HARN_OK(out.this_host ? compose_here(arguments, caller, out) : compose_elsewhere(arguments, caller, out));
  out.rules = PathRules::for_processes(out.policy, out.facts);
  return out;
}

}  // namespace harn::cli
