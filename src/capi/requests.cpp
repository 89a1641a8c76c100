// SPDX-License-Identifier: Apache-2.0
#include "capi/requests.h"

#include <array>

#include "base/enum_names.h"
#include "base/json.h"
#include "base/text.h"
#include "capi/surroundings.h"
#include "embed/harness_table.h"
#include "harn/policy_text.h"
#include "harn/probe.h"
#include "plan/json_fields.h"
#include "plan/names.h"
#include "policy/dialects.h"
#include "policy/names.h"

namespace harn {

template <>
struct base::EnumNames<capi::FileOperation> {
  static constexpr std::array names{std::pair{capi::FileOperation::read_text, std::string_view("read_text")},
                                    std::pair{capi::FileOperation::list, std::string_view("list")},
                                    std::pair{capi::FileOperation::exists, std::string_view("exists")},
                                    std::pair{capi::FileOperation::write_text, std::string_view("write_text")},
                                    std::pair{capi::FileOperation::delete_, std::string_view("delete")},
                                    std::pair{capi::FileOperation::delete_tree, std::string_view("delete_tree")}};
};

namespace capi {
namespace {

using Environment = std::map<std::string, std::string>;

struct ContextFields {
  std::optional<Environment> environment = {};
  std::optional<AbsPath> cwd = {};
  bool operator==(const ContextFields&) const = default;
};

struct OpenFields {
  base::Value policy = {};
  ContextFields context = {};
  std::optional<Backend> backend = {};
  std::optional<Fallback> fallback = {};
  bool no_sandbox = false;
  std::optional<std::string> audit = {};
  std::optional<AbsPath> record = {};
  std::optional<AbsPath> replay = {};
  std::vector<std::string> ignore = {};
  std::vector<std::string> ignore_env = {};
};

struct RunFields {
  std::vector<std::string> argv = {};
  std::optional<AbsPath> cwd = {};
  std::optional<Environment> environment = {};
  std::optional<std::string> image = {};
  std::optional<std::uint64_t> timeout_ms = {};
  std::string input = {};
  std::uint64_t captured_bytes = default_captured_bytes;
  bool receipt = true;
  std::optional<Profile> profile = {};
  base::Value limits = {};
  std::vector<Around> within = {};
};

struct ExecutorFields {
  base::Value sandbox = {};
  ContextFields context = {};
  std::optional<std::string> audit = {};
};

struct ExecuteFields {
  std::string command = {};
  std::optional<AbsPath> cwd = {};
  std::optional<std::uint64_t> timeout_ms = {};
  std::string input = {};
  std::vector<Around> within = {};
};

struct FileFields {
  FileOperation operation = FileOperation::exists;
  std::string path = {};
  std::string text = {};
  std::uint64_t max_bytes = default_max_read_bytes;
  std::vector<Around> within = {};
};

struct ConfigFields {
  std::optional<AbsPath> start = {};
  std::optional<AbsPath> home = {};
};

}  // namespace
}  // namespace capi

namespace plan {

template <>
struct Json<base::Value> {
  static Status read(const base::Value& value, base::Value& out) {
    out = value;
    return {};
  }
};
template <>
struct Fields<capi::Around> {
  static constexpr std::tuple list{always("policy", &capi::Around::policy), field("allow_demotion", &capi::Around::allow_demotion),
                                   field("sub_agent", &capi::Around::sub_agent)};
};
template <>
struct Fields<capi::FileFields> {
  static constexpr std::tuple list{always("operation", &capi::FileFields::operation), always("path", &capi::FileFields::path),
                                   field("text", &capi::FileFields::text), field("max_bytes", &capi::FileFields::max_bytes),
                                   field("within", &capi::FileFields::within)};
};
template <>
struct Fields<capi::ContextFields> {
  static constexpr std::tuple list{field("environment", &capi::ContextFields::environment), field("cwd", &capi::ContextFields::cwd)};
};
template <>
struct Fields<capi::OpenFields> {
  static constexpr std::tuple list{always("policy", &capi::OpenFields::policy),        field("context", &capi::OpenFields::context),
                                   field("backend", &capi::OpenFields::backend),       field("fallback", &capi::OpenFields::fallback),
                                   field("no_sandbox", &capi::OpenFields::no_sandbox), field("audit", &capi::OpenFields::audit),
                                   field("record", &capi::OpenFields::record),         field("replay", &capi::OpenFields::replay),
                                   field("ignore", &capi::OpenFields::ignore),         field("ignore_env", &capi::OpenFields::ignore_env)};
};
template <>
struct Fields<capi::TapeRequest> {
  static constexpr std::tuple list{always("tape", &capi::TapeRequest::tape), field("exec", &capi::TapeRequest::exec)};
};
template <>
struct Fields<capi::RunFields> {
  static constexpr std::tuple list{always("argv", &capi::RunFields::argv),
                                   field("cwd", &capi::RunFields::cwd),
                                   field("environment", &capi::RunFields::environment),
                                   field("image", &capi::RunFields::image),
                                   field("timeout_ms", &capi::RunFields::timeout_ms),
                                   field("input", &capi::RunFields::input),
                                   field("captured_bytes", &capi::RunFields::captured_bytes),
                                   field("receipt", &capi::RunFields::receipt),
                                   field("profile", &capi::RunFields::profile),
                                   field("limits", &capi::RunFields::limits),
                                   field("within", &capi::RunFields::within)};
};
template <>
struct Fields<capi::ExecutorFields> {
  static constexpr std::tuple list{always("sandbox", &capi::ExecutorFields::sandbox), field("context", &capi::ExecutorFields::context),
                                   field("audit", &capi::ExecutorFields::audit)};
};
template <>
struct Fields<capi::ExecuteFields> {
  static constexpr std::tuple list{always("command", &capi::ExecuteFields::command), field("cwd", &capi::ExecuteFields::cwd),
                                   field("timeout_ms", &capi::ExecuteFields::timeout_ms), field("input", &capi::ExecuteFields::input),
                                   field("within", &capi::ExecuteFields::within)};
};
template <>
struct Fields<capi::ConfigFields> {
  static constexpr std::tuple list{field("start", &capi::ConfigFields::start), field("home", &capi::ConfigFields::home)};
};

}  // namespace plan

namespace capi {
namespace {

// A longer wait than any program lives; more would not fit the arithmetic of deadlines.
constexpr std::uint64_t longest_wait_ms = std::uint64_t{10} * 366 * 86'400'000;

template <class Fields>
Result<Fields> read_fields(const char* text) {
  if (text == nullptr)
    return fail(Error{.code = ErrorCode::protocol, .stage = Stage::load, .message = "the request is NULL", .hint = "pass a JSON object"});
  HARN_TRY(value, base::parse_json(text, "request"));
  Fields fields;
  HARN_OK(plan::Json<Fields>::read(value, fields));
  return fields;
}

// What execve() would read as another name, or cut off.
Status check_variables(const std::optional<Environment>& environment) {
  for (const auto& [name, value] : environment.value_or(Environment()))
    if (name.empty() || name.find_first_of(std::string_view("=\0", 2)) != std::string::npos || value.find('\0') != std::string::npos)
      return fail(Error{.code = ErrorCode::invalid_command,
                        .stage = Stage::load,
                        .message = "the variable " + base::quoted(name) + " cannot stand in an environment",
                        .hint = "names have no '=', and nothing has a NUL byte",
                        .where = "/environment"});
  return {};
}

Result<Context> context_of(ContextFields fields) {
  HARN_OK(check_variables(fields.environment));
  Context context;
  context.environment = fields.environment ? std::move(*fields.environment) : own_environment();
  if (fields.cwd) {
    context.cwd = std::move(*fields.cwd);
    return context;
  }
  HARN_TRY(cwd, own_directory());
  context.cwd = std::move(cwd);
  return context;
}

AbsPath home_of(const Context& context) { return home_directory(context.environment).value_or(AbsPath::of("/")); }

Result<Fallback> fallback_of(const std::optional<Fallback>& named, const Context& context) {
  if (named) return *named;
  const auto found = context.environment.find("HARN_HANDLER_SANDBOX");
  return parse_fallback(found == context.environment.end() ? std::nullopt : std::optional<std::string_view>(found->second));
}

Result<std::optional<AuditMode>> audit_of(const std::optional<std::string>& asked) {
  if (!asked) return std::optional<AuditMode>();
  if (const auto mode = parse_audit_mode(*asked)) return mode;
  return fail(Error{.code = ErrorCode::protocol,
                    .stage = Stage::load,
                    .message = "audit is " + base::quoted(*asked),
                    .hint = "off, process or power",
                    .where = "/audit"});
}

Result<ReplayRules> rules_of(const OpenFields& fields) {
  ReplayRules rules{.ignore_env = {fields.ignore_env.begin(), fields.ignore_env.end()}};
  for (const auto& word : fields.ignore) {
    const auto kind = parse_divergence_kind(word);
    if (!kind)
      return fail(Error{.code = ErrorCode::protocol,
                        .stage = Stage::load,
                        .message = "ignore names " + base::quoted(word),
                        .hint = "argv, cwd, env, stdin, policy, order, missing or extra",
                        .where = "/ignore"});
    rules.ignore.insert(*kind);
  }
  return rules;
}

std::chrono::milliseconds wait_of(std::uint64_t milliseconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::min(milliseconds, longest_wait_ms)));
}

}  // namespace

Result<Context> read_context(const char* text) {
  if (text == nullptr) return context_of({});
  HARN_TRY(fields, read_fields<ContextFields>(text));
  return context_of(std::move(fields));
}

Result<OpenRequest> read_open(const char* text) {
  HARN_TRY(fields, read_fields<OpenFields>(text));
  OpenRequest request;
  HARN_TRY(context, context_of(std::move(fields.context)));
  HARN_TRY(policy, parse_policy_json(base::print_json(fields.policy), {.home = home_of(context), .file_name = "policy"}));
  HARN_TRY(fallback, fallback_of(fields.fallback, context));
  HARN_TRY(audit, audit_of(fields.audit));
  HARN_TRY(rules, rules_of(fields));
  request.audit = audit;
  request.record = std::move(fields.record);
  request.replay = std::move(fields.replay);
  request.rules = std::move(rules);
  request.policy = std::move(policy);
  request.context = std::move(context);
  request.options = {.backend = fields.backend, .fallback = fallback, .no_sandbox = fields.no_sandbox};
  if (const auto runtime = request.context.environment.find("HARN_WASI_RUNTIME"); runtime != request.context.environment.end())
    request.options.wasi_runtime = runtime->second;
  return request;
}

Result<TapeRequest> read_tape_request(const char* text) { return read_fields<TapeRequest>(text); }

Result<RunRequest> read_run(const char* text) {
  HARN_TRY(fields, read_fields<RunFields>(text));
  HARN_OK(check_variables(fields.environment));
  RunRequest request{.command = {.argv = std::move(fields.argv), .cwd = std::move(fields.cwd)}};
  request.call.own_environment = fields.environment.has_value();
  if (fields.environment) request.command.environment = std::move(*fields.environment);
  if (fields.image) request.command.image = std::move(*fields.image);
  if (fields.timeout_ms) request.call.wall_time = wait_of(*fields.timeout_ms);
  request.call.input = std::move(fields.input);
  request.call.captured_bytes = fields.captured_bytes;
  request.call.receipt = fields.receipt;
  request.call.profile = fields.profile;
  if (!fields.limits.is(base::ValueKind::null)) {
    base::Value holder;
    holder.set("limits", std::move(fields.limits));
    HARN_TRY(policy, parse_policy_json(base::print_json(holder), {.home = {}, .file_name = "request"}));
    request.call.limits = policy.limits;
  }
  request.within = std::move(fields.within);
  return request;
}

Result<ExecutorRequest> read_executor(const char* text) {
  HARN_TRY(fields, read_fields<ExecutorFields>(text));
  ExecutorRequest request;
  HARN_TRY(context, context_of(std::move(fields.context)));
  base::Value root;
  root.set("sandbox", fields.sandbox);
  HARN_OK(policy::import_harness(root, {.home = home_of(context), .project_root = context.cwd, .file_name = "request"}));
  HARN_TRY(audit, audit_of(fields.audit));
  request.audit = audit;
  request.policy = harness::config_of(fields.sandbox).policy;
  request.context = std::move(context);
  return request;
}

Result<ExecuteRequest> read_execute(const char* text) {
  HARN_TRY(fields, read_fields<ExecuteFields>(text));
  ExecuteRequest request{.command = std::move(fields.command)};
  request.execution.cwd = std::move(fields.cwd);
  request.execution.input = std::move(fields.input);
  if (fields.timeout_ms) request.execution.timeout = wait_of(*fields.timeout_ms);
  request.within = std::move(fields.within);
  return request;
}

Result<FileRequest> read_file_request(const char* text) {
  HARN_TRY(fields, read_fields<FileFields>(text));
  return FileRequest{.operation = fields.operation,
                     .path = std::move(fields.path),
                     .text = std::move(fields.text),
                     .max_bytes = static_cast<std::size_t>(fields.max_bytes),
                     .within = std::move(fields.within)};
}

Result<std::vector<PolicyScope>> enter(const std::vector<Around>& within, const AbsPath& home) {
  std::vector<PolicyScope> scopes;
  scopes.reserve(within.size());
  for (const auto& around : within) {
    HARN_TRY(policy, parse_policy_json(base::print_json(around.policy), {.home = home, .file_name = "within"}));
    HARN_TRY(resolved, resolve_policy_paths(std::move(policy)));
    HARN_TRY(scope, PolicyScope::enter(std::move(resolved), {.allow_demotion = around.allow_demotion, .sub_agent = around.sub_agent}));
    scopes.push_back(std::move(scope));
  }
  return scopes;
}

Result<ConfigRequest> read_config_request(const char* text) {
  HARN_TRY(fields, read_fields<ConfigFields>(text));
  ConfigRequest request;
  HARN_TRY(context, context_of({.cwd = std::move(fields.start)}));
  request.start = context.cwd;
  request.home = fields.home ? std::move(*fields.home) : home_of(context);
  return request;
}

}  // namespace capi
}  // namespace harn
