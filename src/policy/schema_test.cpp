// SPDX-License-Identifier: Apache-2.0
// The schema must say what the reader does. A validator of the keywords it uses judges good and bad
// policies, and the reader has to agree.
#include <algorithm>
#include <functional>
#include <regex>

#include <gtest/gtest.h>

#include "base/json.h"
#include "harn/policy_text.h"
#include "policy/member_table.h"

namespace harn {
namespace {

using base::Value;
using base::ValueKind;

Value parsed(std::string_view text) {
  auto value = base::parse_json(text);
  EXPECT_TRUE(value) << text;
  return value ? std::move(*value) : Value();
}

const Value& schema() {
  static const Value value = parsed(policy_schema());
  return value;
}

bool has_type(const Value& value, std::string_view type) {
  const std::pair<std::string_view, bool> types[] = {
      {"null", value.is(ValueKind::null)},       {"boolean", value.is(ValueKind::boolean)},
      {"integer", value.is(ValueKind::integer)}, {"number", value.is(ValueKind::integer) || value.is(ValueKind::real)},
      {"string", value.is(ValueKind::string)},   {"array", value.is(ValueKind::array)},
      {"object", value.is(ValueKind::object)},
  };
  return std::any_of(std::begin(types), std::end(types), [&](const auto& t) { return t.first == type && t.second; });
}

double number(const Value& value) { return value.is(ValueKind::integer) ? static_cast<double>(value.integer()) : value.real(); }

bool conforms(const Value& value, const Value& rules);

bool type_allows(const Value& value, const Value& rule) {
  if (rule.is(ValueKind::string)) return has_type(value, rule.string());
  const auto& types = rule.array();
  return std::any_of(types.begin(), types.end(), [&](const Value& type) { return has_type(value, type.string()); });
}

bool members_allowed(const Value& value, const Value& rules) {
  const Value* properties = rules.find("properties");
  const Value* others = rules.find("additionalProperties");
  const Value* names = rules.find("propertyNames");
  for (const auto& member : value.object()) {
    if (names != nullptr && !conforms(member.name, *names)) return false;
    const Value* rule = properties == nullptr ? nullptr : properties->find(member.name);
    if (rule == nullptr && others != nullptr && others->is(ValueKind::boolean)) return others->boolean();
    if (rule == nullptr) rule = others;
    if (rule != nullptr && !conforms(member.value, *rule)) return false;
  }
  return true;
}

// One keyword, which constrains only the kind of value it speaks about.
bool keyword_allows(std::string_view keyword, const Value& argument, const Value& value, const Value& rules) {
  const bool is_number = value.is(ValueKind::integer) || value.is(ValueKind::real);
  if (keyword == "type") return type_allows(value, argument);
  if (keyword == "enum") return std::count(argument.array().begin(), argument.array().end(), value) > 0;
  if (keyword == "minimum") return !is_number || number(value) >= number(argument);
  if (keyword == "maximum") return !is_number || number(value) <= number(argument);
  if (keyword == "minLength") return !value.is(ValueKind::string) || !value.string().empty();
  if (keyword == "pattern") return !value.is(ValueKind::string) || std::regex_search(value.string(), std::regex(argument.string()));
  if (keyword == "properties") return !value.is(ValueKind::object) || members_allowed(value, rules);
  if (keyword == "required")
    return !value.is(ValueKind::object) || std::all_of(argument.array().begin(), argument.array().end(),
                                                       [&](const Value& name) { return value.find(name.string()) != nullptr; });
  if (keyword == "items")
    return !value.is(ValueKind::array) ||
           std::all_of(value.array().begin(), value.array().end(), [&](const Value& entry) { return conforms(entry, argument); });
  if (keyword == "additionalProperties" || keyword == "propertyNames") return !value.is(ValueKind::object) || members_allowed(value, rules);
  EXPECT_TRUE(keyword == "description" || keyword == "title" || keyword == "$schema") << keyword;
  return true;
}

bool conforms(const Value& value, const Value& rules) {
  return std::all_of(rules.object().begin(), rules.object().end(),
                     [&](const base::Member& rule) { return keyword_allows(rule.name, rule.value, value, rules); });
}

bool reads(std::string_view text) {
  return parse_policy_json(text, TextContext{.home = AbsPath::of("/home/me"), .file_name = {}}).has_value();
}

TEST(Schema, NamesEveryMemberOfTheTableAndClosesEveryObject) {
  using Walk = std::function<void(std::span<const policy::MemberRow>, const Value&)>;
  std::size_t leaves = 0;
  const Walk walk = [&](std::span<const policy::MemberRow> rows, const Value& rules) {
    ASSERT_EQ(*rules.find("additionalProperties"), Value(false));
    ASSERT_EQ(rules.find("properties")->object().size(), rows.size());
    for (const auto& row : rows) {
      const Value* rule = rules.find("properties")->find(row.name);
      ASSERT_NE(rule, nullptr) << row.name;
      const auto& text = rule->find("description")->string();
      EXPECT_TRUE(text.starts_with(row.description) && text.ends_with(std::string(row.unset) + ".")) << text;
      EXPECT_FALSE(row.description.empty() || row.unset.empty()) << row.name;
      if (row.members.empty()) ++leaves;
      else walk(row.members, *rule);
    }
  };
  walk(policy::policy_members(), schema());
  EXPECT_EQ(leaves, 7U + 2 + 7 + 4 + 9 + 5);
}

TEST(Schema, SaysWhichDraftItIs) {
  EXPECT_EQ(*schema().find("$schema"), Value("https://json-schema.org/draft/2020-12/schema"));
  EXPECT_EQ(*schema().find("type"), Value("object"));
  EXPECT_EQ(schema().find("required"), nullptr);
}

TEST(Schema, PrintsAMemberLikeThis) {
  const Value& limits = *schema().find("properties")->find("limits")->find("properties");
  EXPECT_EQ(
      base::print_json(*limits.find("max_processes")),
      R"({"type": "integer", "minimum": 1, "maximum": 4194304, "description": "Processes and threads alive at once. Unset: no limit."})");
  const Value& presets = *schema().find("properties")->find("process_sandbox")->find("properties")->find("presets");
  EXPECT_EQ(*presets.find("type"), Value(base::Array{"array", "null"}));
}

TEST(Schema, AgreesWithTheReader) {
  const std::pair<std::string_view, bool> cases[] = {
      {"{}", true},
      {"[]", false},
      {R"({"zebra": 1})", false},
      {R"({"sandbox_profile": "os_hardened", "side_effect_level": "none", "recursion_limit": 0})", true},
      {R"({"sandbox_profile": "hard"})", false},
      {R"({"sandbox_profile": null})", false},
      {R"({"capabilities": {"workspace": ["read_text"], "process": []}})", true},
      {R"({"capabilities": {"workspace": ["chmod"]}})", false},
      {R"({"workspace_roots": ["/", "~", "~/x", "$HOME", "$HOME/x", "C:/x", "C:\\x"]})", true},
      {R"({"workspace_roots": ["x"]})", false},
      {R"({"workspace_roots": ["~x"]})", false},
      {R"({"workspace_roots": [""]})", false},
      {R"({"process_sandbox": {"presets": null, "package_tokens": true}})", true},
      {R"({"process_sandbox": {"presets": ["user_temp"], "read_deny_roots": []}})", true},
      {R"({"process_sandbox": {"presets": "user_temp"}})", false},
      {R"({"process_sandbox": {"unix_sockets": ["/s", {"path": "/d", "allow_dangerous": true}]}})", true},
      {R"({"process_sandbox": {"unix_sockets": [{"allow_dangerous": true}]}})", false},
      {R"({"process_sandbox": {"unix_sockets": [{"path": "/d", "x": 1}]}})", false},
      {R"({"side_effect_level": "network", "network": {"mode": "limited", "allowed_hosts": ["x.org"], "blocked_ports": [1, 65535]}})",
       true},
      {R"({"network": {"blocked_ports": [0]}})", false},
      {R"({"network": {"blocked_ports": [65536]}})", false},
      {R"({"network": {"allowed_hosts": [""]}})", false},
      {R"({"network": {"mode": "none"}})", false},
      {R"({"limits": {"max_memory_mb": 1, "cpu_count": 0.5, "wall_time": "1.5h", "idle_timeout": 0.5, "max_output_bytes": "10MiB"}})",
       true},
      {R"({"limits": {"max_memory_mb": 0}})", false},
      {R"({"limits": {"max_memory_mb": 1.5}})", false},
      {R"({"limits": {"max_memory_mb": 1073741825}})", false},
      {R"({"limits": {"max_output_bytes": "10MB"}})", false},
      {R"({"limits": {"max_output_bytes": 0}})", false},
      {R"({"limits": {"cpu_count": 0}})", false},
      {R"({"limits": {"cpu_count": 4096.5}})", false},
      {R"({"limits": {"wall_time": "soon"}})", false},
      {R"({"limits": {"wall_time": 0}})", false},
      {R"({"limits": {"wall_time": 31536001}})", false},
      {R"({"env": {"mode": "patch", "set": {"A": ""}, "remove": ["B"], "passthrough": ["C"], "strip": ["D_*"]}})", true},
      {R"({"env": {"set": {"A": 1}}})", false},
      {R"({"env": {"set": {"A=B": "1"}}})", false},
      {R"({"env": {"set": {"": "1"}}})", false},
      {R"({"env": {"remove": ["A_*"]}})", false},
      {R"({"env": {"strip": ["A=*"]}})", false},
      {R"({"blocked_commands": ["rm -rf"]})", true},
      {R"({"blocked_commands": [" \t"]})", false},
      {R"({"recursion_limit": -1})", false},
      {R"({"recursion_limit": 4294967296})", false},
  };
  for (const auto& [text, good] : cases) {
    EXPECT_EQ(conforms(parsed(text), schema()), good) << text;
    EXPECT_EQ(reads(text), good) << text;
  }
}

}  // namespace
}  // namespace harn
