// SPDX-License-Identifier: Apache-2.0
// What the dialect readers share: one per tool, from a neutral tree to an Imported policy.
#pragma once

#include <algorithm>
#include <array>

#include "base/value.h"
#include "harn/dialect.h"
#include "policy/shapes.h"

namespace harn::policy {

Result<Imported> import_harness(const base::Value& root, const DialectContext& context);
Result<Imported> import_openhuman(const base::Value& root, const DialectContext& context);

// The name of a container image.
Result<std::string> read_image(const base::Value& value, const Place& at);

// One member of a foreign table: its name and how it is read into `Settings`.
template <class Settings>
struct ForeignMember {
  std::string_view name = {};
  Status (*read)(const Value&, const Place&, Settings&) = nullptr;
};

// Reads with a shape into a member of `Settings`.
template <class Shape, auto field, class Settings>
Status read_into(const Value& value, const Place& at, Settings& settings) {
  HARN_TRY(read, Shape::read(value, at));
  settings.*field = std::move(read);
  return {};
}

template <class Settings, std::size_t count>
Status read_members(const Value& table, const Place& at, const std::array<ForeignMember<Settings>, count>& known, Settings& settings) {
  if (!table.is(base::ValueKind::object)) return at.expected_table(table);
  std::array<std::string_view, count> names{};
  std::transform(known.begin(), known.end(), names.begin(), [](const auto& member) { return member.name; });
  for (const base::Member& member : table.object()) {
    const auto* row = std::find_if(known.begin(), known.end(), [&](const auto& r) { return r.name == member.name; });
    if (row == known.end()) return at.unknown_member(member, names);
    HARN_OK(row->read(member.value, at.member(member.name, member.value.mark), settings));
  }
  return {};
}

}  // namespace harn::policy
