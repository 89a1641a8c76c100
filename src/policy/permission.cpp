// SPDX-License-Identifier: Apache-2.0
// The text form of a PermissionPolicy. Every pattern is compiled once while it is read, so that a
// bad one is reported at its place and never dropped.
#include "harn/permission.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/glob.h"
#include "base/json.h"
#include "base/sha256.h"
#include "policy/hosts.h"
#include "policy/read_permission.h"
#include "policy/read_policy.h"
#include "policy/shapes.h"

namespace harn {
namespace {

using base::Value;
using policy::Place;

struct Axis {
  std::string_view name = {};
  std::vector<std::string> PermissionPolicy::* list = nullptr;
};
constexpr std::array axes{Axis{"read", &PermissionPolicy::read}, Axis{"write", &PermissionPolicy::write},
                          Axis{"exec", &PermissionPolicy::exec}, Axis{"net", &PermissionPolicy::net}};

Result<std::string> expand_home(const std::string& glob, const Place& at) {
  for (const std::string_view prefix : {"~", "$HOME"}) {
    if (glob != prefix && !(glob.starts_with(prefix) && glob[prefix.size()] == '/')) continue;
    if (at.home().is_root())
      return at.wrong(fmt::format("{} names the home directory, but none is known", at.name()), "write the absolute path");
    return base::glob_escape(at.home().text()) + glob.substr(prefix.size());
  }
  return glob;
}

Result<std::string> read_glob(const Value& value, const Place& at) {
  if (!value.is(base::ValueKind::string)) return at.expected("a glob", value);
  HARN_TRY(text, expand_home(value.string(), at));
  if (const auto glob = base::Glob::compile(text); !glob)
    return at.wrong(fmt::format("{}: {}", at.name(), glob.error().message), glob.error().hint);
  return text;
}

Result<std::string> read_host(const Value& value, const Place& at) {
  if (!value.is(base::ValueKind::string)) return at.expected("a host", value);
  if (policy::is_every_host(value.string())) return value.string();
  const auto rule = policy::parse_host_rule(value.string());
  if (!rule) return at.wrong(fmt::format("{}: {}", at.name(), rule.error().message), rule.error().hint);
  return policy::text_of(*rule);
}

Value list_value(const std::vector<std::string>& texts) {
  base::Array list;
  for (const std::string& text : texts) list.emplace_back(text);
  return list;
}

std::vector<std::string> sorted(std::vector<std::string> texts) {
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  return texts;
}

}  // namespace

namespace policy {

bool is_every_host(std::string_view pattern) { return pattern == "*" || pattern == "**"; }

Result<PermissionPolicy> read_permission(const Value& root, const TextContext& context, TextFormat format) {
  static constexpr std::array<std::string_view, axes.size()> names{axes[0].name, axes[1].name, axes[2].name, axes[3].name};
  const Place at(context, format, root.mark);
  if (!root.is(base::ValueKind::object)) return at.expected_table(root);
  PermissionPolicy permission;
  for (const auto& member : root.object()) {
    const auto* axis = std::find_if(axes.begin(), axes.end(), [&](const Axis& a) { return a.name == member.name; });
    if (axis == axes.end()) return at.unknown_member(member, names);
    const bool hosts = axis->list == &PermissionPolicy::net;
    HARN_TRY(list, read_each<std::string>(member.value, at.member(member.name, member.value.mark), hosts ? "hosts" : "globs",
                                          hosts ? read_host : read_glob));
    permission.*axis->list = std::move(list);
  }
  return permission;
}

}  // namespace policy

PermissionPolicy PermissionPolicy::local_dev() { return {.read = {"**"}, .write = {"**"}, .exec = {"**"}, .net = {}}; }

Result<PermissionPolicy> permission_from_json(std::string_view text, const TextContext& context) {
  HARN_OK(policy::check_size(text, context));
  auto root = base::parse_json(text, context.file_name);
  if (!root) {
    Error error = std::move(root).error();
    error.code = ErrorCode::invalid_policy;
    return fail(std::move(error));
  }
  return policy::read_permission(*root, context, policy::TextFormat::json);
}

Result<PermissionPolicy> permission_from_toml(std::string_view text, const TextContext& context) {
  HARN_TRY(root, policy::parse_toml_value(text, context));
  return policy::read_permission(root, context, policy::TextFormat::toml);
}

std::string permission_to_json(const PermissionPolicy& permission, int indent) {
  Value root{base::Object{}};
  for (const Axis& axis : axes) root.set(std::string(axis.name), list_value(permission.*axis.list));
  return base::print_json(root, indent);
}

std::string digest(const PermissionPolicy& permission) {
  Value root{base::Object{}};
  for (const Axis& axis : axes) root.set(std::string(axis.name), list_value(sorted(permission.*axis.list)));
  return "policy-" + base::sha256_hex(base::canonical_json(root)).substr(0, 24);
}

}  // namespace harn
