// SPDX-License-Identifier: Apache-2.0
// The few members of Value that need the complete Member type.
#include "base/value.h"

namespace harn::base {

const Value* Value::find(std::string_view name) const {
  if (!is(ValueKind::object)) return nullptr;
  for (const auto& member : object())
    if (member.name == name) return &member.value;
  return nullptr;
}

void Value::set(std::string name, Value value) {
  if (is(ValueKind::null)) data_ = Object{};
  object().push_back(Member{.name = std::move(name), .value = std::move(value)});
}

std::string_view kind_name(ValueKind kind) {
  switch (kind) {
    case ValueKind::null: return "null";
    case ValueKind::boolean: return "true or false";
    case ValueKind::integer: return "an integer";
    case ValueKind::real: return "a number";
    case ValueKind::string: return "a string";
    case ValueKind::array: return "a list";
    case ValueKind::object: return "a table";
  }
  return "?";
}

}  // namespace harn::base
