// SPDX-License-Identifier: Apache-2.0
// The user's own file: what a policy may say, how the audit log is kept, and which image containers are made of.
#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "base/json.h"
#include "base/units.h"
#include "policy/dialects.h"
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

constexpr std::array<std::string_view, 1> container_members{"docker_image"};

Result<std::string> read_sandbox(const Value& table, const Place& at) {
  if (!table.is(ValueKind::object)) return at.expected_table(table);
  std::string image;
  for (const auto& member : table.object()) {
    if (member.name != container_members.front()) return at.unknown_member(member, container_members);
    HARN_TRY(name, policy::read_image(member.value, at.member(member.name, member.value.mark)));
    image = std::move(name);
  }
  return image;
}

// What is no policy's, taken out of the file.
std::optional<Value> take_table(Value& root, std::string_view name) {
  if (!root.is(ValueKind::object)) return std::nullopt;
  auto& object = root.object();
  const auto found = std::ranges::find(object, name, &base::Member::name);
  if (found == object.end()) return std::nullopt;
  auto table = std::move(found->value);
  object.erase(found);
  return table;
}

Result<UserConfig> read_config(Value root, const TextContext& context, policy::TextFormat format) {
  UserConfig config;
  const Place at(context, format, root.mark);
  if (const auto table = take_table(root, "audit")) {
    HARN_TRY(settings, read_audit(*table, at.member("audit", table->mark)));
    config.audit = settings;
  }
  if (const auto table = take_table(root, "sandbox")) {
    HARN_TRY(image, read_sandbox(*table, at.member("sandbox", table->mark)));
    config.docker_image = std::move(image);
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
