// SPDX-License-Identifier: Apache-2.0
// Shapes: one type for each kind of thing a policy member can hold. A shape reads it, prints it and
// describes it to the schema; a row of the member table names a shape and a field, nothing else.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/enum_names.h"
#include "harn/policy.h"
#include "policy/place.h"

namespace harn::policy {

using base::Value;

// The wire words of an enum, in its order.
template <class E>
inline constexpr auto words_of = [] {
  std::array<std::string_view, base::EnumNames<E>::names.size()> words = {};
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = base::EnumNames<E>::names[i].second;
  return words;
}();

inline bool has_nul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

// The position of the word a value holds.
Result<std::size_t> read_word(const Value& value, const Place& at, std::span<const std::string_view> words);
Value word_schema(std::span<const std::string_view> words);
Value list_schema(Value items);

template <class E>
struct Word {
  static Result<E> read(const Value& value, const Place& at) {
    HARN_TRY(index, read_word(value, at, words_of<E>));
    return base::EnumNames<E>::names[index].first;
  }
  static Value print(E word) { return base::enum_name(word); }
  static Value schema() { return word_schema(words_of<E>); }
};

Result<const base::Array*> read_list(const Value& value, const Place& at, std::string_view of_what);

// Every entry of a list by one reader.
template <class T>
Result<std::vector<T>> read_each(const Value& value, const Place& at, std::string_view of_what,
                                 Result<T> (*read)(const Value&, const Place&)) {
  HARN_TRY(list, read_list(value, at, of_what));
  std::vector<T> out;
  out.reserve(list->size());
  for (std::size_t i = 0; i < list->size(); ++i) {
    HARN_TRY(entry, read((*list)[i], at.entry(i, (*list)[i].mark)));
    out.push_back(std::move(entry));
  }
  return out;
}

template <class E>
struct Words {
  static Result<std::set<E>> read(const Value& value, const Place& at) {
    HARN_TRY(words, read_each<E>(value, at, "words", Word<E>::read));
    return std::set<E>(words.begin(), words.end());
  }
  static Value print(const std::set<E>& words) {
    base::Array list;
    for (const E word : words) list.emplace_back(base::enum_name(word));
    return list;
  }
  static Value schema() { return list_schema(word_schema(words_of<E>)); }
};

struct Range {
  std::uint64_t min = 0;
  std::uint64_t max = 0;
};
Result<std::uint64_t> read_count(const Value& value, const Place& at, Range range);
Value count_schema(Range range);

template <class T, T min, T max>
struct Count {
  static Result<T> read(const Value& value, const Place& at) {
    HARN_TRY(count, read_count(value, at, {min, max}));
    return static_cast<T>(count);
  }
  static Value print(T count) { return std::uint64_t{count}; }
  static Value schema() { return count_schema({min, max}); }
};

struct Flag {
  static Result<bool> read(const Value& value, const Place& at);
  static Value print(bool flag) { return flag; }
  static Value schema();
};

// A count of bytes, or a size such as "10M".
struct Bytes {
  static Result<std::uint64_t> read(const Value& value, const Place& at);
  static Value print(std::uint64_t bytes) { return bytes; }
  static Value schema();
};

// A number of processors with at most three decimals, kept as thousandths.
struct Processors {
  static Result<std::uint64_t> read(const Value& value, const Place& at);
  static Value print(std::uint64_t thousandths);
  static Value schema();
};

// Seconds, or a text such as "500ms".
struct Duration {
  static Result<std::chrono::milliseconds> read(const Value& value, const Place& at);
  static Value print(std::chrono::milliseconds duration);
  static Value schema();
};

struct Paths {
  static Result<std::vector<AbsPath>> read(const Value& value, const Place& at);
  static Value print(const std::vector<AbsPath>& paths);
  static Value schema();
};

struct Sockets {
  static Result<std::vector<UnixSocket>> read(const Value& value, const Place& at);
  static Value print(const std::vector<UnixSocket>& sockets);
  static Value schema();
};

struct Hosts {
  static Result<std::vector<HostRule>> read(const Value& value, const Place& at);
  static Value print(const std::vector<HostRule>& rules);
  static Value schema();
};

struct Ports {
  static Result<std::set<std::uint16_t>> read(const Value& value, const Place& at);
  static Value print(const std::set<std::uint16_t>& ports);
  static Value schema();
};

enum class TextRule : std::uint8_t {
  variable,
  variable_pattern,
  command
};
Result<std::set<std::string>> read_texts(const Value& value, const Place& at, TextRule rule);
Value print_texts(const std::set<std::string>& texts);
Value texts_schema(TextRule rule);

template <TextRule rule>
struct Texts {
  static Result<std::set<std::string>> read(const Value& value, const Place& at) { return read_texts(value, at, rule); }
  static Value print(const std::set<std::string>& texts) { return print_texts(texts); }
  static Value schema() { return texts_schema(rule); }
};

// Variable names with their values.
struct Variables {
  static Result<std::map<std::string, std::string>> read(const Value& value, const Place& at);
  static Value print(const std::map<std::string, std::string>& variables);
  static Value schema();
};

}  // namespace harn::policy
