// SPDX-License-Identifier: Apache-2.0
#include "cli/flags.h"

#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"
#include "cli/network_flags.h"
#include "embed/container_engine.h"
#include "harn/dialect.h"
#include "plan/names.h"
#include "policy/member_table.h"

namespace harn::cli {
namespace {

// The same error, worded for a command line: it names the option instead of a place in a file.
std::unexpected<Error> bad_value(std::string_view option, Error error) {
  return wrong_usage(fmt::format("--{}: {}", option, error.message), std::move(error.hint));
}

// A limit in the range its member has in a policy.
Status read_limit(std::string_view option, std::string_view member, const base::Value& value, Policy& policy) {
  auto read = policy::read_limit(member, value, policy);
  if (!read) {
    auto error = std::move(read).error();
    const auto place = fmt::format("'limits.{}': ", member);
    if (error.message.starts_with(place)) error.message.erase(0, place.size());
    return bad_value(option, std::move(error));
  }
  return {};
}

base::Value number_value(std::uint64_t number) {
  if (number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return static_cast<std::int64_t>(number);
  return static_cast<double>(number);
}

Status read_number(const Arguments& arguments, std::string_view option, std::string_view member, Policy& policy) {
  const auto* text = arguments.value(option);
  if (text == nullptr) return {};
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (problem != std::errc{} || end != text->data() + text->size())
    return wrong_usage(fmt::format("--{}: {} is not a whole number", option, base::quoted(*text)), "write digits only");
  return read_limit(option, member, number_value(number), policy);
}

Status read_megabytes(const Arguments& arguments, std::string_view option, std::string_view member, Policy& policy) {
  constexpr std::uint64_t megabyte = 1u << 20;
  const auto* text = arguments.value(option);
  if (text == nullptr) return {};
  auto bytes = base::parse_size(*text);
  if (!bytes) return bad_value(option, std::move(bytes).error());
  if (*bytes % megabyte != 0)
    return wrong_usage(fmt::format("--{}: {} is not a whole number of megabytes", option, base::quoted(*text)),
                       "write a size such as 512M");
  return read_limit(option, member, number_value(*bytes / megabyte), policy);
}

// Sizes and durations are written as in a policy.
Status read_text(const Arguments& arguments, std::string_view option, std::string_view member, Policy& policy) {
  const auto* text = arguments.value(option);
  return text == nullptr ? Status() : read_limit(option, member, *text, policy);
}

Status read_limits(const Arguments& arguments, Policy& policy) {
  HARN_OK(read_megabytes(arguments, "memory", "max_memory_mb", policy));
  HARN_OK(read_number(arguments, "cpu-seconds", "max_cpu_seconds", policy));
  HARN_OK(read_number(arguments, "procs", "max_processes", policy));
  HARN_OK(read_megabytes(arguments, "file-size", "max_file_size_mb", policy));
  HARN_OK(read_text(arguments, "output-limit", "max_output_bytes", policy));
  HARN_OK(read_number(arguments, "open-files", "max_open_files", policy));
  return read_text(arguments, "timeout", "wall_time", policy);
}

Status read_environment(const Arguments& arguments, EnvRules& env) {
  for (const auto& text : arguments.all("env")) {
    const auto equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
      return wrong_usage(fmt::format("--env: {} is not NAME=VALUE", base::quoted(text)), "write a name, '=' and a value");
    env.set.insert_or_assign(text.substr(0, equals), text.substr(equals + 1));
  }
  if (const auto& names = arguments.all("env-pass"); !names.empty()) env.passthrough.emplace(names.begin(), names.end());
  for (const auto& name : arguments.all("env-strip")) env.strip.insert(name);
  if (arguments.has("clear-env")) env.mode = EnvMode::replace;
  return {};
}

// The three modes of Harness, as what they mean here.
Status read_sandbox_mode(const Arguments& arguments, const Caller& caller, PlanOptions& options) {
  const auto* mode = arguments.value("sandbox");
  if (mode == nullptr) return {};
  const bool container = options.backend == Backend::docker || options.backend == Backend::podman;
  const bool agrees = *mode == "docker" ? container : *mode == "process" && !container && options.backend != Backend::noop;
  if (options.backend && !agrees)
    return wrong_usage(fmt::format("'--sandbox {}' contradicts '--backend {}'", *mode, base::enum_name(*options.backend)),
                       "leave one of them out");
  if (options.no_sandbox && *mode != "none")
    return wrong_usage(fmt::format("'--sandbox {}' contradicts '--no-sandbox'", *mode), "leave one of them out");
  if (*mode == "none") options.no_sandbox = true;
  if (*mode == "docker" && !options.backend) {
    HARN_TRY(engine, embed::container_engine(caller.environment));
    options.backend = engine;
  }
  return {};
}

Status read_paths(const Arguments& arguments, const PathContext& context, Policy& policy) {
  const std::pair<std::string_view, std::optional<std::vector<AbsPath>>*> lists[] = {
      {"write", &policy.workspace_roots}, {"read", &policy.read_only_roots}, {"unprotect", &policy.unprotect}};
  for (const auto& [option, list] : lists) {
    if (!arguments.has(option)) continue;
    HARN_TRY(paths, path_arguments(arguments.all(option), context));
    *list = std::move(paths);
  }
  HARN_TRY(denied, path_arguments(arguments.all("deny"), context));
  policy.process_sandbox.read_deny_roots = std::move(denied);
  return {};
}

}  // namespace

Result<AbsPath> path_argument(std::string_view text, const PathContext& context) {
  if (text == "~") return context.home;
  std::string whole(text);
  if (text.starts_with("~/")) whole = fmt::format("{}/{}", context.home.text(), text.substr(2));
  else if (!text.empty() && !looks_absolute(text)) whole = fmt::format("{}/{}", context.cwd.text(), text);
  auto path = AbsPath::parse(whole);
  if (!path) return wrong_usage(std::move(path.error().message), "write a path");
  return path;
}

Result<std::vector<AbsPath>> path_arguments(const std::vector<std::string>& texts, const PathContext& context) {
  std::vector<AbsPath> paths;
  for (const auto& text : texts) {
    HARN_TRY(path, path_argument(text, context));
    paths.push_back(std::move(path));
  }
  return paths;
}

Result<Policy> policy_from_flags(const Arguments& arguments, const PathContext& context) {
  Policy policy;
  if (const auto* name = arguments.value("profile")) policy.sandbox_profile = base::enum_value<Profile>(*name);
  HARN_OK(read_paths(arguments, context, policy));
  for (const auto& name : arguments.all("preset")) {
    if (!policy.process_sandbox.presets) policy.process_sandbox.presets.emplace();
    policy.process_sandbox.presets->insert(*base::enum_value<Preset>(name));
  }
  HARN_OK(read_network(arguments, policy));
  HARN_OK(read_limits(arguments, policy));
  HARN_OK(read_environment(arguments, policy.env));
  return policy;
}

Result<Limits> total_limits_from(const Arguments& arguments) {
  Policy policy;
  HARN_OK(read_megabytes(arguments, "total-memory", "max_memory_mb", policy));
  HARN_OK(read_number(arguments, "total-procs", "max_processes", policy));
  if (const auto* text = arguments.value("total-cpus")) {
    double count = 0;
    const auto [end, problem] = std::from_chars(text->data(), text->data() + text->size(), count);
    if (problem != std::errc{} || end != text->data() + text->size())
      return wrong_usage(fmt::format("--total-cpus: {} is no number", base::quoted(*text)), "write one such as 2 or 1.5");
    HARN_OK(read_limit("total-cpus", "cpu_count", count, policy));
  }
  return policy.limits;
}

void add_default_limits(const Arguments& arguments, Limits& limits) {
  const auto* mode = arguments.value("sandbox");
  if (mode == nullptr || *mode == "none") return;
  const auto defaults = harness_limits();
  const auto fill = [](std::optional<std::uint64_t>& limit, const std::optional<std::uint64_t>& otherwise) {
    if (!limit) limit = otherwise;
  };
  fill(limits.max_memory_mb, defaults.max_memory_mb);
  fill(limits.max_cpu_seconds, defaults.max_cpu_seconds);
  fill(limits.max_processes, defaults.max_processes);
  fill(limits.max_file_size_mb, defaults.max_file_size_mb);
}

namespace {

// Sessions know two kinds by what they are, besides the names of backends.
Result<std::optional<Backend>> named_backend(const std::string& name, const Caller& caller) {
  if (name == "local") return std::optional(Backend::linux);
  if (name != "container") return base::enum_value<Backend>(name);
  HARN_TRY(engine, embed::container_engine(caller.environment));
  return std::optional(engine);
}

}  // namespace

Result<PlanOptions> plan_options_from(const Arguments& arguments, const Caller& caller) {
  PlanOptions options;
  if (const auto* name = arguments.value("backend")) {
    HARN_TRY(named, named_backend(*name, caller));
    options.backend = named;
  }
  options.no_sandbox = arguments.has("no-sandbox");
  options.explain = arguments.has("explain");
  HARN_OK(read_sandbox_mode(arguments, caller, options));
  const auto found = caller.environment.find("HARN_HANDLER_SANDBOX");
  HARN_TRY(fallback, parse_fallback(found == caller.environment.end() ? std::nullopt : std::optional<std::string_view>(found->second)));
  options.fallback = fallback;
  if (const auto runtime = caller.environment.find("HARN_WASI_RUNTIME"); runtime != caller.environment.end())
    options.wasi_runtime = runtime->second;
  HARN_TRY(egress, egress_choices(arguments, caller.environment));
  options.egress = std::move(egress);
  return options;
}

}  // namespace harn::cli
