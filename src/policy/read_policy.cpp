// SPDX-License-Identifier: Apache-2.0
// Walks a tree along the member table. What cannot be said by one member alone is left to validate();
// its errors are given the place of the member they name.
#include "policy/read_policy.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "policy/member_table.h"

namespace harn::policy {
namespace {

using base::Value;
using base::ValueKind;

std::vector<std::string_view> names_of(std::span<const MemberRow> members) {
  std::vector<std::string_view> names;
  for (const auto& member : members) names.push_back(member.name);
  return names;
}

const MemberRow* find_member(std::span<const MemberRow> members, std::string_view name) {
  for (const auto& member : members)
    if (member.name == name) return &member;
  return nullptr;
}

Status read_table(const Value& value, const Place& at, std::span<const MemberRow> members, Policy& policy) {
  if (!value.is(ValueKind::object)) return at.expected_table(value);
  for (const auto& entry : value.object()) {
    const MemberRow* member = find_member(members, entry.name);
    if (member == nullptr) return at.unknown_member(entry, names_of(members));
    if (member->nullable && entry.value.is(ValueKind::null)) continue;
    const Place inner = at.member(entry.name, entry.value.mark);
    if (member->members.empty()) {
      HARN_OK(member->read(entry.value, inner, policy));
      continue;
    }
    if (member->open != nullptr) member->open(policy);
    HARN_OK(read_table(entry.value, inner, member->members, policy));
  }
  return {};
}

// The place of the member a dotted name means, or of its nearest ancestor that was written.
std::string where_of(const Value& value, const Place& at, std::string_view dotted) {
  const auto name = dotted.substr(0, dotted.find('.'));
  const Value* inner = value.find(name);
  if (inner == nullptr) return at.where();
  dotted.remove_prefix(std::min(name.size() + 1, dotted.size()));
  return where_of(*inner, at.member(name, inner->mark), dotted);
}

}  // namespace

Result<Policy> read_policy(const Value& root, const TextContext& context, TextFormat format) {
  const Place at(context, format, root.mark);
  Policy policy;
  HARN_OK(read_table(root, at, policy_members(), policy));
  if (auto valid = validate(policy); !valid) {
    Error error = std::move(valid).error();
    error.where = where_of(root, at, error.where);
    return fail(std::move(error));
  }
  return policy;
}

Status check_size(std::string_view text, const TextContext& context) {
  if (text.size() <= max_policy_bytes) return {};
  return fail(Error{.code = ErrorCode::invalid_policy,
                    .stage = Stage::parse,
                    .message = fmt::format("the policy has {} bytes, more than the {} that are read", text.size(), max_policy_bytes),
                    .hint = "check that this is a policy file",
                    .where = context.file_name});
}

}  // namespace harn::policy
