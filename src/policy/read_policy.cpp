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

// What was read, and what was wrong with it.
struct Reading {
  Policy policy = {};
  std::vector<Error> mistakes = {};

  void note(Status status) {
    if (!status) mistakes.push_back(std::move(status).error());
  }
};

void read_table(const Value& value, const Place& at, std::span<const MemberRow> members, Reading& reading) {
  if (!value.is(ValueKind::object)) return reading.note(at.expected_table(value));
  for (const auto& entry : value.object()) {
    const MemberRow* member = find_member(members, entry.name);
    if (member == nullptr) {
      reading.note(at.unknown_member(entry, names_of(members)));
      continue;
    }
    if (member->nullable && entry.value.is(ValueKind::null)) continue;
    const Place inner = at.member(entry.name, entry.value.mark);
    if (member->members.empty()) {
      reading.note(member->read(entry.value, inner, reading.policy));
      continue;
    }
    if (member->open != nullptr) member->open(reading.policy);
    read_table(entry.value, inner, member->members, reading);
  }
}

// The place of the member a dotted name means, or of its nearest ancestor that was written.
std::string where_of(const Value& value, const Place& at, std::string_view dotted) {
  const auto name = dotted.substr(0, dotted.find('.'));
  const Value* inner = value.find(name);
  if (inner == nullptr) return at.where();
  dotted.remove_prefix(std::min(name.size() + 1, dotted.size()));
  return where_of(*inner, at.member(name, inner->mark), dotted);
}

Reading read(const Value& root, const TextContext& context, TextFormat format) {
  const Place at(context, format, root.mark);
  Reading reading;
  read_table(root, at, policy_members(), reading);
  // Members that could not be read would contradict others by accident.
  if (!reading.mistakes.empty()) return reading;
  if (auto valid = validate(reading.policy); !valid) {
    Error error = std::move(valid).error();
    error.where = where_of(root, at, error.where);
    reading.mistakes.push_back(std::move(error));
  }
  return reading;
}

}  // namespace

Result<Policy> read_policy(const Value& root, const TextContext& context, TextFormat format) {
  auto reading = read(root, context, format);
  if (!reading.mistakes.empty()) return fail(std::move(reading.mistakes.front()));
  return std::move(reading.policy);
}

std::vector<Error> policy_mistakes(const Value& root, const TextContext& context, TextFormat format) {
  return read(root, context, format).mistakes;
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
