// SPDX-License-Identifier: Apache-2.0
// Structs to JSON and back from one description: Fields<T>::list names every member once, and the
// writer and the strict reader are both derived from it, so they cannot drift apart. Members at their
// default are left out; unknown members are errors that name the nearest valid one.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/enum_names.h"
#include "base/value.h"
#include "harn/path.h"
#include "harn/result.h"

namespace harn::plan {

template <class T, class M>
struct Field {
  std::string_view name;
  M T::* member;
  bool always;  // written even at its default, and required when reading
};

template <class T, class M>
constexpr Field<T, M> always(std::string_view name, M T::* member) {
  return {name, member, true};
}

template <class T, class M>
constexpr Field<T, M> field(std::string_view name, M T::* member) {
  return {name, member, false};
}

// Specialise with:  static constexpr std::tuple list{always("op", &MountStep::op), …};
template <class T>
struct Fields;

template <class T>
concept Described = requires { Fields<T>::list; };

// The JSON of one type: `static base::Value write(const T&)` and `static Status read(const base::Value&, T&)`.
template <class T>
struct Json;

// ---- errors; `where` grows into a JSON pointer on the way out ------------------------------------

std::unexpected<Error> broken(std::string message, std::string hint = {});
std::unexpected<Error> wrong_kind(const base::Value& got, std::string_view wanted);
std::unexpected<Error> wrong_word(std::string_view got, std::span<const std::string_view> words);
Status beneath(Status status, std::string_view name);
Status beneath(Status status, std::size_t index);
Status check_names(const base::Value& object, std::span<const std::string_view> names, std::string_view also = {});

// ---- scalars -------------------------------------------------------------------------------------

// Text that is not UTF-8 (an argument, a file name) travels as {"base64": "…"}.
base::Value write_text(std::string_view text);
base::Value write_text(std::string&& text);
Status read_text(const base::Value& value, std::string& out);
Status read_path(std::string_view text, AbsPath& out);

// Numbers past 2^63 travel as "0x…".
base::Value write_unsigned(std::uint64_t number);
Status read_unsigned(const base::Value& value, std::uint64_t& out);
std::unexpected<Error> out_of_range(std::uint64_t number);

template <>
struct Json<bool> {
  static base::Value write(bool value) { return value; }
  static Status read(const base::Value& value, bool& out) {
    if (!value.is(base::ValueKind::boolean)) return wrong_kind(value, "true or false");
    out = value.boolean();
    return {};
  }
};

template <std::unsigned_integral T>
struct Json<T> {
  static base::Value write(T value) { return write_unsigned(value); }
  static Status read(const base::Value& value, T& out) {
    std::uint64_t number = 0;
    HARN_OK(read_unsigned(value, number));
    if (!std::in_range<T>(number)) return out_of_range(number);
    out = static_cast<T>(number);
    return {};
  }
};

template <>
struct Json<int> {
  static base::Value write(int value) { return value; }
  static Status read(const base::Value& value, int& out) {
    if (!value.is(base::ValueKind::integer)) return wrong_kind(value, "an integer");
    if (!std::in_range<int>(value.integer())) return out_of_range(static_cast<std::uint64_t>(value.integer()));
    out = static_cast<int>(value.integer());
    return {};
  }
};

template <>
struct Json<std::string> {
  static base::Value write(const std::string& value) { return write_text(value); }
  static Status read(const base::Value& value, std::string& out) { return read_text(value, out); }
};

template <>
struct Json<AbsPath> {
  static base::Value write(const AbsPath& value) { return write_text(value.text()); }
  static Status read(const base::Value& value, AbsPath& out) {
    std::string text;
    HARN_OK(read_text(value, text));
    return read_path(text, out);
  }
};

template <class E>
constexpr auto words_of() {
  std::array<std::string_view, base::EnumNames<E>::names.size()> words{};
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = base::EnumNames<E>::names[i].second;
  return words;
}

template <class E>
  requires std::is_enum_v<E>
struct Json<E> {
  static base::Value write(E value) { return base::enum_name(value); }
  static Status read(const base::Value& value, E& out) {
    if (!value.is(base::ValueKind::string)) return wrong_kind(value, "a word");
    const auto found = base::enum_value<E>(value.string());
    if (!found) return wrong_word(value.string(), words_of<E>());
    out = *found;
    return {};
  }
};

// ---- containers ----------------------------------------------------------------------------------

template <class T>
struct Json<std::optional<T>> {
  static base::Value write(const std::optional<T>& value) { return value ? Json<T>::write(*value) : base::Value(); }
  static Status read(const base::Value& value, std::optional<T>& out) { return Json<T>::read(value, out.emplace()); }
};

template <class T>
struct Json<std::vector<T>> {
  static base::Value write(const std::vector<T>& items) {
    base::Array array;
    array.reserve(items.size());
    for (const auto& item : items) array.push_back(Json<T>::write(item));
    return array;
  }
  static Status read(const base::Value& value, std::vector<T>& out) {
    if (!value.is(base::ValueKind::array)) return wrong_kind(value, "a list");
    out.resize(value.array().size());
    for (std::size_t i = 0; i < out.size(); ++i) HARN_OK(beneath(Json<T>::read(value.array()[i], out[i]), i));
    return {};
  }
};

// The members of a map whose keys may be arbitrary bytes: an object where it can be, else a list of
// [key, value] pairs.
base::Value write_pairs(base::Object pairs);
Result<base::Object> read_pairs(const base::Value& value);

template <class T, class Less>
struct Json<std::map<std::string, T, Less>> {
  using Map = std::map<std::string, T, Less>;
  static base::Value write(const Map& items) {
    base::Object pairs;
    pairs.reserve(items.size());
    for (const auto& [key, item] : items) pairs.push_back({key, Json<T>::write(item), {}});
    return write_pairs(std::move(pairs));
  }
  static Status read(const base::Value& value, Map& out) {
    HARN_TRY(pairs, read_pairs(value));
    for (const auto& pair : pairs) HARN_OK(beneath(Json<T>::read(pair.value, out[pair.name]), pair.name));
    return {};
  }
};

// ---- structs -------------------------------------------------------------------------------------

// Stands for a value of any type, so that the members of an aggregate can be counted.
struct AnyMember {
  template <class T>
  operator T() const;
};

template <class T, class... Given>
constexpr std::size_t member_count() {
  if constexpr (requires { T{Given{}..., AnyMember{}}; }) return member_count<T, Given..., AnyMember>();
  else return sizeof...(Given);
}

template <Described T>
constexpr auto member_names() {
  return std::apply([](const auto&... f) { return std::array<std::string_view, sizeof...(f)>{f.name...}; }, Fields<T>::list);
}

template <Described T>
void write_members(const T& object, base::Value& out) {
  static_assert(member_count<T>() == std::tuple_size_v<decltype(Fields<T>::list)>, "a member is missing in Fields");
  [[maybe_unused]] static const T defaults{};
  [[maybe_unused]] const auto one = [&](const auto& f) {
    const auto& member = object.*(f.member);
    using M = std::remove_cvref_t<decltype(member)>;
    if (f.always || !(member == defaults.*(f.member))) out.set(std::string(f.name), Json<M>::write(member));
  };
  std::apply([&](const auto&... f) { (one(f), ...); }, Fields<T>::list);
}

template <Described T>
Status read_members(const base::Value& value, T& out, std::string_view also = {}) {
  if (!value.is(base::ValueKind::object)) return wrong_kind(value, "an object");
  HARN_OK(check_names(value, member_names<T>(), also));
  Status status;
  [[maybe_unused]] const auto one = [&](const auto& f) {
    using M = std::remove_cvref_t<decltype(out.*(f.member))>;
    if (const auto* found = value.find(f.name)) status = beneath(Json<M>::read(*found, out.*(f.member)), f.name);
    else if (f.always) status = broken("the member '" + std::string(f.name) + "' is missing");
    return status.has_value();
  };
  std::apply([&](const auto&... f) { static_cast<void>((one(f) && ...)); }, Fields<T>::list);
  return status;
}

template <Described T>
struct Json<T> {
  static base::Value write(const T& object) {
    base::Value out = base::Object{};
    write_members(object, out);
    return out;
  }
  static Status read(const base::Value& value, T& out) { return read_members(value, out); }
};

// A variant is an object whose member "kind" names the alternative. Specialise with:
//   static constexpr std::array<std::string_view, N> names{…};  in the order of the alternatives.
template <class V>
struct KindNames;

template <Described... Ts>
struct Json<std::variant<Ts...>> {
  using V = std::variant<Ts...>;

  static base::Value write(const V& value) {
    base::Value out;
    out.set("kind", KindNames<V>::names[value.index()]);
    std::visit([&](const auto& alternative) { write_members(alternative, out); }, value);
    return out;
  }
  static Status read(const base::Value& value, V& out) {
    const auto* kind = value.find("kind");
    if (kind == nullptr || !kind->is(base::ValueKind::string)) return broken("the member 'kind' is missing");
    return read_alternative(value, kind->string(), out, std::index_sequence_for<Ts...>{});
  }

 private:
  template <std::size_t... I>
  static Status read_alternative(const base::Value& value, std::string_view kind, V& out, std::index_sequence<I...>) {
    Status status;
    const bool known = ((KindNames<V>::names[I] == kind && (status = read_members(value, out.template emplace<I>(), "kind"), true)) || ...);
    return known ? status : beneath(wrong_word(kind, KindNames<V>::names), "kind");
  }
};

}  // namespace harn::plan
