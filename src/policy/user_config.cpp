// SPDX-License-Identifier: Apache-2.0
// The user's own file: what a policy may say, and how the audit log is kept.
#include <algorithm>
#include <array>
#include <functional>

#include "base/json.h"
#include "base/units.h"
#include "policy/read_policy.h"

namespace harn {
namespace {

using base::Value;
using base::ValueKind;
using policy::Place;

constexpr std::array<std::string_view, 4> members{"mode", "rotate_size", "keep_size", "keep_days"};
constexpr std::array<std::string_view, 3> modes{"off", "process", "power"};
constexpr std::int64_t longest_days = 36500;
constexpr std::uint64_t smallest_file = 4096;

Status read_size(const Value& value, const Place& at, std::uint64_t& size) {
  if (!value.is(ValueKind::string)) return at.expected("a size such as \"64M\"", value);
  const auto bytes = base::parse_size(value.string());
  if (!bytes) return at.wrong(at.name() + ": " + bytes.error().message, bytes.error().hint);
  if (*bytes < smallest_file) return at.expected("at least 4K", value);
  size = *bytes;
  return {};
}

Status read_member(const base::Member& member, const Place& at, AuditSettings& settings) {
  const auto& value = member.value;
  if (member.name == "rotate_size") return read_size(value, at, settings.rotate_bytes);
  if (member.name == "keep_size") return read_size(value, at, settings.keep_bytes);
  if (member.name == "keep_days") {
    if (!value.is(ValueKind::integer) || value.integer() < 1 || value.integer() > longest_days)
      return at.expected("a number of days", value);
    settings.keep_age = std::chrono::days(value.integer());
    return {};
  }
  if (!value.is(ValueKind::string)) return at.expected("one of off, process, power", value);
  const auto word = std::ranges::find(modes, value.string());
  if (word == modes.end()) return at.unknown_word(value.string(), modes);
  settings.mode = static_cast<AuditMode>(word - modes.begin());
  return {};
}

Result<AuditSettings> read_audit(const Value& table, const Place& at) {
  if (!table.is(ValueKind::object)) return at.expected_table(table);
  AuditSettings settings;
  for (const auto& member : table.object()) {
    if (std::ranges::find(members, member.name) == members.end()) return at.unknown_member(member, members);
    HARN_OK(read_member(member, at.member(member.name, member.value.mark), settings));
  }
  return settings;
}

Result<UserConfig> read_config(Value root, const TextContext& context, policy::TextFormat format) {
  UserConfig config;
  if (root.is(ValueKind::object)) {
    auto& object = root.object();
    const auto audit = std::ranges::find(object, "audit", &base::Member::name);
    if (audit != object.end()) {
      const Place at(context, format, root.mark);
      HARN_TRY(settings, read_audit(audit->value, at.member(audit->name, audit->value.mark)));
      config.audit = settings;
      object.erase(audit);
    }
  }
  HARN_TRY(policy, policy::read_policy(root, context, format));
  config.policy = std::move(policy);
  return config;
}

}  // namespace

Result<UserConfig> parse_user_config_toml(std::string_view text, const TextContext& context) {
  HARN_TRY(root, policy::parse_toml_value(text, context));
  return read_config(std::move(root), context, policy::TextFormat::toml);
}

Result<UserConfig> parse_user_config_json(std::string_view text, const TextContext& context) {
  HARN_OK(policy::check_size(text, context));
  HARN_TRY(root, base::parse_json(text, context.file_name));
  return read_config(std::move(root), context, policy::TextFormat::json);
}

}  // namespace harn
