// SPDX-License-Identifier: Apache-2.0
// Value: the neutral tree between text and types. TOML and JSON are both read into it (with the
// place each value stood), and everything Harn prints as JSON is built from it, so that only
// json.cpp and policy/parse_toml.cpp ever see a parser library.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "harn/result.h"

namespace harn::base {

// Where a value stood in its file; line 0 = unknown.
struct Mark {
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  bool operator==(const Mark&) const = default;
};

class Value;
using Array = std::vector<Value>;
struct Member;
using Object = std::vector<Member>;  // in the order written; readers reject duplicates

enum class ValueKind : std::uint8_t {
  null,
  boolean,
  integer,
  real,
  string,
  array,
  object
};

class Value {
 public:
  // Defined below, where Member is complete: a variant of it cannot be built before.
  Value();
  Value(std::nullptr_t);
  Value(bool v);
  Value(std::int64_t v);
  Value(int v);
  Value(unsigned v);
  Value(std::uint64_t v);  // callers keep below 2^63
  Value(double v);
  Value(std::string v);
  Value(std::string_view v);
  Value(const char* v);
  Value(Array v);
  Value(Object v);

  ValueKind kind() const { return static_cast<ValueKind>(data_.index()); }
  bool is(ValueKind k) const { return kind() == k; }
  bool boolean() const { return std::get<bool>(data_); }
  std::int64_t integer() const { return std::get<std::int64_t>(data_); }
  double real() const { return std::get<double>(data_); }
  const std::string& string() const { return std::get<std::string>(data_); }
  const Array& array() const { return std::get<Array>(data_); }
  const Object& object() const { return std::get<Object>(data_); }
  Array& array() { return std::get<Array>(data_); }
  Object& object() { return std::get<Object>(data_); }

  // Object member by name; null when absent or when this is no object.
  const Value* find(std::string_view name) const;
  // Appends a member; turns a null into an object first.
  void set(std::string name, Value value);

  Mark mark = {};
  bool operator==(const Value& other) const;

 private:
  std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Array, Object> data_;
};

struct Member {
  std::string name = {};
  Value value = {};
  Mark mark = {};  // of the name

  bool operator==(const Member& other) const { return name == other.name && value == other.value; }
};

inline Value::Value() = default;
inline Value::Value(std::nullptr_t) {}
inline Value::Value(bool v) : data_(v) {}
inline Value::Value(std::int64_t v) : data_(v) {}
inline Value::Value(int v) : data_(static_cast<std::int64_t>(v)) {}
inline Value::Value(unsigned v) : data_(static_cast<std::int64_t>(v)) {}
inline Value::Value(std::uint64_t v) : data_(static_cast<std::int64_t>(v)) {}
inline Value::Value(double v) : data_(v) {}
inline Value::Value(std::string v) : data_(std::move(v)) {}
inline Value::Value(std::string_view v) : data_(std::string(v)) {}
inline Value::Value(const char* v) : data_(std::string(v)) {}
inline Value::Value(Array v) : data_(std::move(v)) {}
inline Value::Value(Object v) : data_(std::move(v)) {}
inline bool Value::operator==(const Value& other) const { return data_ == other.data_; }

std::string_view kind_name(ValueKind kind);  // "a string", "a list", … for error texts

}  // namespace harn::base
