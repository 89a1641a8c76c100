// SPDX-License-Identifier: Apache-2.0
// The JSON Schema of a policy, made from the member table so that it cannot disagree with the reader.
#include <fmt/format.h>

#include "base/json.h"
#include "harn/policy_text.h"
#include "policy/member_table.h"

namespace harn {
namespace {

using base::Value;
using policy::MemberRow;

Value table_schema(std::span<const MemberRow> members);

// "T" becomes ["T", "null"]; T is a string for every nullable shape.
void allow_null(Value& schema) {
  for (auto& keyword : schema.object())
    if (keyword.name == "type") keyword.value = base::Array{keyword.value, "null"};
}

Value member_schema(const MemberRow& member) {
  Value schema = member.members.empty() ? member.schema() : table_schema(member.members);
  if (member.nullable) allow_null(schema);
  schema.set("description", fmt::format("{} Unset: {}.", member.description, member.unset));
  return schema;
}

Value table_schema(std::span<const MemberRow> members) {
  Value properties;
  for (const auto& member : members) properties.set(std::string(member.name), member_schema(member));
  Value schema;
  schema.set("type", "object");
  schema.set("properties", std::move(properties));
  schema.set("additionalProperties", false);
  return schema;
}

}  // namespace

std::string policy_schema() {
  Value schema;
  schema.set("$schema", "https://json-schema.org/draft/2020-12/schema");
  schema.set("title", "Harn policy");
  schema.set("description", "What a command may read, write, reach and use. Unset, empty and everything are different values.");
  const Value table = table_schema(policy::policy_members());
  for (const auto& keyword : table.object()) schema.set(keyword.name, keyword.value);
  return base::print_json(schema, 2) + "\n";
}

}  // namespace harn
