// SPDX-License-Identifier: Apache-2.0
// harn policy …: policies as files. Of this host they use only where symbolic links lead.
#include <fmt/format.h>

#include "base/json.h"
#include "cli/load.h"
#include "cli/render.h"
#include "cli/verbs.h"
#include "harn/dialect.h"
#include "harn/permission.h"
#include "harn/policy_text.h"
#include "harn/probe.h"
#include "policy/names.h"

namespace harn::cli {
namespace {

// A policy printed by us reads back, so that it can stand inside a larger JSON answer.
base::Value policy_value(const Policy& policy) { return base::parse_json(policy_to_json(policy)).value_or(base::Value()); }

base::Value strings_value(const std::vector<std::string>& strings) {
  base::Array out;
  for (const auto& text : strings) out.emplace_back(text);
  return out;
}

std::string json_line(base::Value value) { return base::print_json(value, 2) + "\n"; }

struct Pair {
  Policy ceiling = {};
  Policy requested = {};
};

// Two spellings of one place must compare as one.
Result<Policy> load_resolved(const std::string& file, const PathContext& context) {
  HARN_TRY(policy, load_policy(file, context));
  auto resolved = resolve_policy_paths(std::move(policy));
  if (!resolved) resolved.error().where = file;
  return resolved;
}

// Both with the same project root, so that an unset workspace is comparable with a named one.
Result<Pair> load_pair(const Arguments& arguments, const Caller& caller) {
  const auto context = path_context(caller);
  HARN_TRY(ceiling, load_resolved(arguments.operands()[0], context));
  HARN_TRY(requested, load_resolved(arguments.operands()[1], context));
  return Pair{with_project_root(std::move(ceiling), caller.cwd), with_project_root(std::move(requested), caller.cwd)};
}

std::string narrowing_line(const NarrowingItem& item) {
  return fmt::format("{}: {}\n", item.lost_by == Side::ceiling ? "the ceiling" : "the request", narrowing_text(item));
}

base::Value narrowing_value(const Narrowing& narrowing) {
  base::Array out;
  for (const auto& item : narrowing) {
    base::Value entry;
    entry.set("member", item.member);
    entry.set("value", item.value);
    entry.set("became", item.became);
    entry.set("lost_by", base::enum_name(item.lost_by));
    out.push_back(std::move(entry));
  }
  return out;
}

base::Value widening_value(const std::vector<Widening>& widenings) {
  base::Array out;
  for (const auto& widening : widenings) {
    base::Value entry;
    entry.set("member", widening.member);
    entry.set("ceiling", widening.ceiling);
    entry.set("requested", widening.requested);
    out.push_back(std::move(entry));
  }
  return out;
}

// One line each, so that a file can be corrected in one go.
Reply several_mistakes(const std::vector<Error>& mistakes, bool json) {
  Reply reply{.exit_code = exit_usage};
  if (!json) {
    for (const auto& error : mistakes) reply.err += fmt::format("harn: {}\n", describe(error));
    return reply;
  }
  base::Array errors;
  for (const auto& error : mistakes) errors.push_back(error_value(error));
  base::Value out;
  out.set("error", error_value(mistakes.front()));
  out.set("errors", std::move(errors));
  reply.out = json_line(std::move(out));
  return reply;
}

base::Value remainder_value(const std::vector<PermissionRemainder>& remainders) {
  base::Array out;
  for (const auto& remainder : remainders) {
    base::Value entry;
    entry.set("axis", remainder.axis);
    entry.set("glob", remainder.glob);
    entry.set("granted", remainder.granted);
    entry.set("why", remainder.why);
    out.push_back(std::move(entry));
  }
  return out;
}

}  // namespace

Result<Reply> policy_check(const Arguments& arguments, const Caller& caller) {
  const auto context = path_context(caller);
  HARN_TRY(source, read_source(arguments.operands().front(), context));
  Policy policy;
  if (source.path == user_config_file(caller)) {
    HARN_TRY(config, parse_user_config(source, context.home));
    policy = std::move(config.policy);
  } else {
    const auto mistakes = policy_mistakes(source, context.home);
    if (mistakes.size() > 1) return several_mistakes(mistakes, arguments.has("json"));
    HARN_TRY(parsed, parse_policy(source, context.home));
    policy = std::move(parsed);
  }
  if (!arguments.has("json")) return Reply{.out = fmt::format("ok {}\n", digest(policy))};
  base::Value out;
  out.set("ok", true);
  out.set("digest", digest(policy));
  return Reply{.out = json_line(std::move(out))};
}

Result<Reply> policy_show(const Arguments& arguments, const Caller& caller) {
  HARN_TRY(policy, load_policy(arguments.operands().front(), path_context(caller)));
  if (arguments.has("canonical")) return Reply{.out = canonical_policy_json(policy) + "\n"};
  if (arguments.has("json")) return Reply{.out = policy_to_json(policy) + "\n"};
  return Reply{.out = policy_to_toml(policy)};
}

Result<Reply> policy_intersect(const Arguments& arguments, const Caller& caller) {
  HARN_TRY(pair, load_pair(arguments, caller));
  const auto met = intersect(pair.ceiling, pair.requested);
  if (arguments.has("json")) {
    base::Value out;
    out.set("policy", policy_value(met.policy));
    out.set("digest", digest(met.policy));
    out.set("narrowing", narrowing_value(met.narrowing));
    return Reply{.out = json_line(std::move(out))};
  }
  Reply reply{.out = policy_to_toml(met.policy)};
  for (const auto& item : met.narrowing) reply.err += narrowing_line(item);
  return reply;
}

Result<Reply> policy_within(const Arguments& arguments, const Caller& caller) {
  HARN_TRY(pair, load_pair(arguments, caller));
  const auto widenings = within(pair.ceiling, pair.requested);
  Reply reply{.exit_code = widenings.empty() ? 0 : exit_no};
  if (arguments.has("json")) {
    base::Value out;
    out.set("within", widenings.empty());
    out.set("widenings", widening_value(widenings));
    reply.out = json_line(std::move(out));
    return reply;
  }
  reply.out = widenings.empty() ? "yes\n" : "no\n";
  for (const auto& widening : widenings)
    reply.out += fmt::format("{}: the request has {}, the ceiling allows {}\n", widening.member, widening.requested, widening.ceiling);
  return reply;
}

Result<Reply> policy_lower(const Arguments& arguments, const Caller& caller) {
  const auto context = path_context(caller);
  HARN_TRY(source, read_source(arguments.operands().front(), context));
  const TextContext places{.home = context.home, .file_name = source.name};
  HARN_TRY(permission, is_json(source) ? permission_from_json(source.text, places) : permission_from_toml(source.text, places));
  HARN_TRY(lowered, lower_permission(permission, caller.cwd));
  if (arguments.has("json")) {
    base::Value out;
    out.set("policy", policy_value(lowered.policy));
    out.set("remainders", remainder_value(lowered.remainders));
    return Reply{.out = json_line(std::move(out))};
  }
  Reply reply{.out = policy_to_toml(lowered.policy)};
  for (const auto& remainder : lowered.remainders) reply.err += fmt::format("{} '{}': {}\n", remainder.axis, remainder.glob, remainder.why);
  return reply;
}

Result<Reply> policy_import(const Arguments& arguments, const Caller& caller) {
  const auto* from = arguments.value("from");
  if (from == nullptr) return wrong_usage("'harn policy import' needs --from", "write --from harness or --from openhuman");
  const auto context = path_context(caller);
  HARN_TRY(source, read_source(arguments.operands().front(), context));
  HARN_TRY(imported, import_dialect(*dialect_named(*from), source.text,
                                    {.home = context.home, .project_root = caller.cwd, .file_name = source.name}));
  if (arguments.has("json")) {
    base::Value out;
    out.set("policy", policy_value(imported.policy));
    out.set("enabled", imported.enabled);
    out.set("backend", imported.backend);
    out.set("docker_image", imported.docker_image);
    out.set("notes", strings_value(imported.notes));
    out.set("not_expressed", strings_value(imported.not_expressed));
    return Reply{.out = json_line(std::move(out))};
  }
  Reply reply{.out = policy_to_toml(imported.policy)};
  if (!imported.enabled) reply.err += "note: the file switches its sandbox off\n";
  if (imported.backend != "auto") reply.err += fmt::format("note: run with --backend {}\n", imported.backend);
  if (!imported.docker_image.empty()) reply.err += fmt::format("note: run with --image {}\n", imported.docker_image);
  for (const auto& note : imported.notes) reply.err += fmt::format("note: {}\n", note);
  for (const auto& lost : imported.not_expressed) reply.err += fmt::format("not expressed: {}\n", lost);
  return reply;
}

Result<Reply> policy_schema_verb(const Arguments&, const Caller&) { return Reply{.out = policy_schema() + "\n"}; }

}  // namespace harn::cli
