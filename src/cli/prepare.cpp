// SPDX-License-Identifier: Apache-2.0
#include "cli/prepare.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/canned_hosts.h"
#include "cli/harness_file.h"
#include "cli/idle_flags.h"
#include "cli/load.h"
#include "cli/network_flags.h"
#include "cli/render.h"
#include "cli/trust.h"
#include "embed/ceiling.h"
#include "embed/container_engine.h"
#include "embed/own_files.h"
#include "embed/ready.h"
#include "harn/probe.h"
#include "host/resolve_paths.h"
#include "plan/names.h"
#include "workspace/pending.h"

namespace harn::cli {
namespace {

// Links are resolved, but where they stand must be known until the layers are composed.
Result<Policy> resolved_policy(const SourceText& source, const AbsPath& home, std::vector<Policy>& written) {
  HARN_TRY(policy, parse_policy(source, home));
  written.push_back(policy);
  return resolve_policy_paths(std::move(policy));
}

// The user's own file, as a layer only where no other policy stands in its place.
Result<std::optional<UserConfig>> user_config(const Caller& caller, const AbsPath& home) {
  HARN_TRY(source, read_source_if_present(user_config_file(caller)));
  if (!source) return std::optional<UserConfig>();
  HARN_TRY(config, parse_user_config(*source, home));
  return std::optional<UserConfig>(std::move(config));
}

embed::Loaded loaded_from(const PolicyLayers& layers, const Composed& composed, bool named_file) {
  embed::Loaded out{.sources = {"default"}};
  if (layers.user) out.sources.emplace_back(named_file ? "policy file" : "user");
  if (layers.project) out.sources.emplace_back(composed.trusted.empty() ? "project" : "trusted project");
  if (layers.flags && *layers.flags != Policy{}) out.sources.emplace_back("flags");
  if (layers.system_ceiling) out.sources.emplace_back("ceiling");
  for (const auto& item : composed.narrowing) out.narrowings.push_back("the ceiling: " + narrowing_text(item));
  for (const auto& item : composed.project_narrowing) out.narrowings.push_back("the project: " + narrowing_text(item));
  return out;
}

// --loopback alone adds to whatever network the other layers ask for.
void keep_network_for_loopback(const Arguments& arguments, PolicyLayers& layers) {
  const bool alone = arguments.has("loopback") || arguments.has("publish");
  if (!alone || arguments.has("net") || arguments.has("allow-host") || arguments.has("host-port")) return;
  for (const auto* layer : {&layers.user, &layers.project})
    if (*layer && (*layer)->network) layers.flags->network = (*layer)->network;
  layers.flags->network->loopback = true;
}

// Composing keeps the widest rules, and with a rule for every port nobody would know these any more.
std::set<std::uint16_t> named_ports(const PolicyLayers& layers) {
  std::set<std::uint16_t> ports;
  for (const auto* layer : {&layers.user, &layers.project, &layers.flags})
    if (*layer && (*layer)->network)
      for (const auto& rule : (*layer)->network->allowed_hosts)
        if (rule.port) ports.insert(*rule.port);
  return ports;
}

std::vector<std::string> composition_notes(const Composed& composed) {
  std::vector<std::string> notes;
  const auto taken = [&](std::string_view who, const Narrowing& narrowing) {
    for (const auto& item : narrowing) notes.push_back(fmt::format("{} narrows: {}", who, narrowing_text(item)));
  };
  taken("the system ceiling", composed.narrowing);
  taken("the project file", composed.project_narrowing);
  for (const auto& widening : composed.trusted)
    notes.push_back(fmt::format("the trusted project file widens {} to {}", widening.member, widening.requested));
  return notes;
}

// What flags asked for and the ceiling took: the operator is told, whatever else it takes from every run.
Result<std::vector<std::string>> flags_cut_short(const PolicyLayers& layers, const Composed& composed) {
  std::vector<std::string> out;
  if (!layers.system_ceiling || !layers.flags || *layers.flags == Policy{}) return out;
  auto others = layers;
  others.flags.reset();
  HARN_TRY(without, compose_layers(others));
  for (const auto& item : composed.narrowing)
    if (std::ranges::find(without.narrowing, item) == without.narrowing.end())
      out.push_back("the system ceiling narrows: " + narrowing_text(item));
  return out;
}

// The hint of a refusal names the file that is meant.
Result<Composed> composed_from(const LoadedLayers& loaded) {
  auto composed = compose_layers(loaded.layers);
  if (composed || loaded.harness_file.empty()) return composed;
  auto& hint = composed.error().hint;
  if (const auto at = hint.find("'harn trust'"); at != std::string::npos)
    hint.replace(at, std::string_view("'harn trust'").size(), fmt::format("'harn trust {}'", base::shell_word(loaded.harness_file)));
  return composed;
}

// A mistyped path on the command line is named by its option, before it becomes a member of a policy.
Status check_there(std::string_view option, const AbsPath& path) {
  HARN_OK(host::resolve_existing(path));
  const auto kind = host::look_at(path).kind;
  if (kind == PathKind::missing)
    return wrong_usage(fmt::format("--{}: {} does not exist", option, base::quoted(path.text())), "check the spelling, or create it");
  if (option == "cwd" && kind != PathKind::directory)
    return wrong_usage(fmt::format("--{}: {} is no directory", option, base::quoted(path.text())), "name a directory");
  return {};
}

// The operator's words, then the project's, then the operator's settings.
std::string image_from(const Arguments& arguments, const Caller& caller, const LoadedLayers& loaded) {
  if (const auto* image = arguments.value("image")) return *image;
  return loaded.image.empty() ? default_image(caller, loaded.users_image) : loaded.image;
}

Result<Command> command_from(const Arguments& arguments, const Prepared& prepared, const Caller& caller) {
  Command command{.argv = arguments.operands()};
  if (const auto* text = arguments.value("cwd")) {
    HARN_TRY(cwd, path_argument(*text, prepared.context));
    if (prepared.this_host) {
      HARN_OK(check_there("cwd", cwd));
      HARN_TRY(real, host::resolve_existing(cwd));
      cwd = std::move(real);
    }
    command.cwd = std::move(cwd);
  }
  if (prepared.this_host) {
    command.environment = caller.environment;
    return command;
  }
  // Another machine has another environment; these two every program needs.
  std::vector<std::string> entries;
  for (const auto& entry : prepared.facts.search_path) entries.push_back(entry.text());
  command.environment = {{"HOME", prepared.facts.home.text()},
                         {"PATH", base::join(entries, prepared.facts.platform == Platform::windows ? ";" : ":")}};
  return command;
}

// Its image is known here, and so the engine can be tried with it.
Status prepare_command(const Arguments& arguments, const Caller& caller, const LoadedLayers& loaded, Prepared& prepared) {
  HARN_TRY(command, command_from(arguments, prepared, caller));
  prepared.command = std::move(command);
  prepared.command.image = image_from(arguments, caller, loaded);
  if (!prepared.this_host) return {};
  embed::settle_wasi_runtime(prepared.facts, prepared.policy, prepared.options, caller.environment);
  return embed::settle_named_engine(prepared.facts, prepared.options, caller.environment, prepared.command.image);
}

// What the ceiling binds, and a Harness project asks for where no flag says otherwise.
Status choose_backend(const LoadedLayers& loaded, const Caller& caller, PlanOptions& options) {
  if (loaded.layers.system_ceiling) options.least_profile = loaded.layers.system_ceiling->profile();
  if (!loaded.backend || options.backend || options.no_sandbox) return {};
  HARN_TRY(engine, embed::container_engine(caller.environment));
  options.backend = engine;
  return {};
}

// A plan for another machine reads nothing of this one, which is easily forgotten inside a project.
std::string unread_project_note(const Arguments& arguments, const Caller& caller) {
  const auto file = find_project_root(caller.cwd).join("harn.toml");
  if (arguments.has("policy") || host::look_at(file).kind == PathKind::missing) return {};
  return fmt::format("{} is not read for another host; pass --policy {}", base::quoted(file.text()), base::shell_word(file.text()));
}

Result<HostFacts> other_host(const Arguments& arguments, const Caller& caller) {
  const auto* platform = arguments.value("platform");
  const auto* file = arguments.value("facts");
  if (file == nullptr) return canned_host(*base::enum_value<Platform>(*platform));
  HARN_TRY(source, read_source(*file, path_context(caller)));
  auto facts = facts_from_json(source.text);
  if (!facts) {
    facts.error().where = source.name + (facts.error().where.empty() ? "" : ":" + facts.error().where);
    return facts;
  }
  if (platform != nullptr && facts->platform != base::enum_value<Platform>(*platform))
    return wrong_usage(
        fmt::format("--platform {} contradicts {}, which describes {}", *platform, base::quoted(*file), base::enum_name(facts->platform)),
        "leave --platform out");
  return facts;
}

Result<LoadedLayers> layers_elsewhere(const Arguments& arguments, const Prepared& prepared, const Caller& caller) {
  PolicyLayers layers{.project_root = prepared.facts.project_root, .home = prepared.facts.home};
  if (const auto* file = arguments.value("policy")) {
    HARN_TRY(source, read_source(*file, path_context(caller)));
    HARN_TRY(policy, parse_policy(source, prepared.facts.home));
    layers.user = std::move(policy);
  }
  HARN_TRY(flags, policy_from_flags(arguments, prepared.context));
  layers.flags = std::move(flags);
  return LoadedLayers{.layers = std::move(layers)};
}

Result<LoadedLayers> layers_here(const Arguments& arguments, const Prepared& prepared, const Caller& caller, AuditSettings* audit) {
  HARN_TRY(loaded, load_layers(caller, prepared.facts,
                               {.policy_file = arguments.value("policy"), .mode = arguments.value("sandbox"), .audit = audit}));
  HARN_TRY(flags, policy_from_flags(arguments, prepared.context));
  for (const auto& path : entries(flags.read_only_roots)) HARN_OK(check_there("read", path));
  for (const auto& path : entries(flags.workspace_roots)) HARN_OK(check_there("write", path));
  loaded.written.push_back(flags);
  HARN_TRY(resolved, resolve_policy_paths(std::move(flags)));
  loaded.layers.flags = std::move(resolved);
  return loaded;
}

// Only here are all places known that a command may write, whichever layer names them. The project root
// counts even where this run leaves it closed: it is what other runs may write by default.
Status check_links(const LoadedLayers& loaded, const Policy& composed, const HostFacts& facts) {
  std::vector<AbsPath> writable = entries(composed.workspace_roots);
  const auto& others = entries(composed.process_sandbox.write_roots);
  writable.insert(writable.end(), others.begin(), others.end());
  if (!facts.project_root.contains(facts.home)) writable.push_back(facts.project_root);
  return check_planted_links(loaded.written, std::move(writable));
}

Result<std::vector<embed::OwnFile>> own_files(const Arguments& arguments, const Prepared& prepared, const Caller& caller) {
  auto files = embed::own_files(caller.environment);
  if (const auto* text = arguments.value("policy")) {
    HARN_TRY(path, path_argument(*text, prepared.context));
    files.push_back({.path = std::move(path), .named = true});
  }
  return files;
}

// Last, because only here is all known that the policy says about this host.
Status prepare_rules(const Arguments& arguments, const Caller& caller, Prepared& prepared) {
  if (!prepared.this_host) {
    if (auto note = unread_project_note(arguments, caller); !note.empty()) prepared.notes.push_back(std::move(note));
    prepared.rules = PathRules::for_processes(prepared.policy, prepared.facts);
    return {};
  }
  auto looked = embed::look_at_host(prepared.facts, prepared.policy, caller.environment);
  prepared.warnings = std::move(looked.warnings);
  prepared.rules = std::move(looked.rules);
  prepared.notes.insert(prepared.notes.end(), prepared.warnings.begin(), prepared.warnings.end());
  HARN_TRY(files, own_files(arguments, prepared, caller));
  return embed::check_own_files(files, {prepared.policy, prepared.options, prepared.facts, prepared.rules});
}

Status load_harness_project(const HostFacts& facts, const std::string* mode, LoadedLayers& loaded) {
  HARN_TRY(file, find_harness_file(facts, mode));
  if (!file) return {};
  loaded.written.push_back(file->policy);
  HARN_TRY(policy, resolve_policy_paths(std::move(file->policy)));
  loaded.layers.project = std::move(policy);
  loaded.layers.project_digest = trust_digest(file->source);
  loaded.harness_file = file->source.path.text();
  loaded.backend = file->backend;
  loaded.image = std::move(file->image);
  return {};
}

}  // namespace

std::string default_image(const Caller& caller, const std::string& users) {
  const auto found = caller.environment.find("HARN_IMAGE");
  if (found != caller.environment.end() && !found->second.empty()) return found->second;
  return users.empty() ? Command{}.image : users;
}

Result<LoadedLayers> load_layers(const Caller& caller, const HostFacts& facts, const LoadRequest& request) {
  LoadedLayers loaded{.layers = {.project_root = facts.project_root, .home = facts.home}};
  auto& layers = loaded.layers;
  HARN_TRY(ceiling, embed::system_ceiling(facts.home));
  layers.system_ceiling = std::move(ceiling);
  HARN_TRY(user, user_config(caller, facts.home));
  if (user && request.audit != nullptr) *request.audit = user->audit;
  if (user) loaded.users_image = user->docker_image;
  if (request.policy_file != nullptr) {
    HARN_TRY(source, read_source(*request.policy_file, {.cwd = facts.cwd, .home = facts.home}));
    HARN_TRY(policy, resolved_policy(source, facts.home, loaded.written));
    layers.user = std::move(policy);
    return loaded;
  }
  if (user) {
    loaded.written.push_back(user->policy);
    HARN_TRY(resolved, resolve_policy_paths(std::move(user->policy)));
    layers.user = std::move(resolved);
  }
  HARN_TRY(project, read_source_if_present(facts.project_root.join("harn.toml")));
  if (project) {
    HARN_TRY(policy, resolved_policy(*project, facts.home, loaded.written));
    layers.project = std::move(policy);
    layers.project_digest = trust_digest(*project);
  } else {
    HARN_OK(load_harness_project(facts, request.mode, loaded));
  }
  HARN_TRY(trusted, load_trusted(caller));
  for (auto& file : trusted) layers.trusted_digests.insert(std::move(file.digest));
  return loaded;
}

Result<HostFacts> proved_facts(const Caller& caller, bool confining) {
  return embed::proved_facts({.environment = caller.environment, .cwd = caller.cwd}, confining);
}

namespace {

// From here on the facts are known, proved or not.
Result<LoadedLayers> compose(const Arguments& arguments, const Caller& caller, AuditSettings* audit, Prepared& prepared) {
  prepared.context = {.cwd = prepared.facts.cwd, .home = prepared.facts.home};
  HARN_TRY(loaded, prepared.this_host ? layers_here(arguments, prepared, caller, audit) : layers_elsewhere(arguments, prepared, caller));
  HARN_OK(choose_backend(loaded, caller, prepared.options));
  if (arguments.has("overlay")) prepared.options.overlay = workspace::place_of(state_directory(caller), prepared.facts.project_root);
  keep_network_for_loopback(arguments, loaded.layers);
  if (loaded.layers.flags) HARN_OK(add_egress_hosts(arguments, caller.environment, *loaded.layers.flags));
  prepared.options.egress.ports = named_ports(loaded.layers);
  HARN_TRY(composed, composed_from(loaded));
  if (prepared.this_host) HARN_OK(check_links(loaded, composed.policy, prepared.facts));
  prepared.policy = composed.policy;
  add_default_limits(arguments, prepared.policy.limits);
  prepared.asked = prepared.policy;
  prepared.notes = composition_notes(composed);
  HARN_TRY(cut_short, flags_cut_short(loaded.layers, composed));
  prepared.cut_short = std::move(cut_short);
  if (audit != nullptr) prepared.loaded = loaded_from(loaded.layers, composed, arguments.has("policy"));
  return loaded;
}

}  // namespace

Result<Prepared> prepare_unproved(const Arguments& arguments, const Caller& caller, std::vector<std::string> argv, AuditSettings* audit) {
  Prepared prepared;
  HARN_TRY(options, plan_options_from(arguments, caller));
  prepared.options = options;
  prepared.facts = embed::seen_facts({.environment = caller.environment, .cwd = caller.cwd});
  HARN_OK(compose(arguments, caller, audit, prepared));
  HARN_TRY(command, command_from(arguments, prepared, caller));
  prepared.command = std::move(command);
  prepared.command.argv = std::move(argv);
  return prepared;
}

Result<Prepared> prepare(const Arguments& arguments, const Caller& caller, AuditSettings* audit) {
  Prepared prepared{.this_host = !arguments.has("platform") && !arguments.has("facts")};
  HARN_TRY(options, plan_options_from(arguments, caller));
  prepared.options = options;
  HARN_TRY(facts, prepared.this_host ? proved_facts(caller, /*confining=*/!options.no_sandbox) : other_host(arguments, caller));
  prepared.facts = std::move(facts);
  HARN_TRY(loaded, compose(arguments, caller, audit, prepared));
  HARN_OK(prepare_command(arguments, caller, loaded, prepared));
  HARN_TRY(idle, idle_flag_notes(arguments, prepared));
  prepared.notes.insert(prepared.notes.end(), idle.begin(), idle.end());
  HARN_OK(prepare_rules(arguments, caller, prepared));
  HARN_TRY(vain, flags_in_vain(arguments, prepared));
  prepared.cut_short.insert(prepared.cut_short.end(), vain.begin(), vain.end());
  prepared.notes.insert(prepared.notes.end(), vain.begin(), vain.end());
  return prepared;
}

}  // namespace harn::cli
