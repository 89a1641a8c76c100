// SPDX-License-Identifier: Apache-2.0
// Shapes that hold one thing: words, numbers, sizes and durations. Exact or refused.
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "base/units.h"
#include "policy/shapes.h"

namespace harn::policy {
namespace {

using base::ValueKind;

constexpr Range output_range{1, std::uint64_t{1} << 50};
constexpr Range processor_range{1, 4'096'000};                       // thousandths
constexpr Range duration_range{1, std::uint64_t{365} * 86'400'000};  // milliseconds

// An integer or a decimal with at most three places, times a thousand.
std::optional<std::uint64_t> thousandths_of(const Value& value, std::uint64_t most) {
  if (value.is(ValueKind::integer)) {
    if (value.integer() < 0 || static_cast<std::uint64_t>(value.integer()) > most / 1000) return std::nullopt;
    return static_cast<std::uint64_t>(value.integer()) * 1000;
  }
  const double scaled = value.real() * 1000;
  if (!(scaled >= 0 && scaled <= static_cast<double>(most))) return std::nullopt;
  const double rounded = std::round(scaled);
  // A decimal such as 1.001 is not exact in binary; anything further off was written finer than allowed.
  if (std::abs(scaled - rounded) > 1e-9 * std::max(1.0, scaled)) return std::nullopt;
  return static_cast<std::uint64_t>(rounded);
}

bool is_number(const Value& value) { return value.is(ValueKind::integer) || value.is(ValueKind::real); }

bool inside(std::uint64_t number, Range range) { return number >= range.min && number <= range.max; }

// An error of a text parser, told from here.
std::unexpected<Error> retold(const Place& at, const Error& error) {
  return at.wrong(fmt::format("{}: {}", at.name(), error.message), error.hint);
}

Value types(std::initializer_list<std::string_view> names) {
  base::Array list;
  for (const auto name : names) list.emplace_back(name);
  return list;
}

Value signed_value(std::uint64_t number) { return static_cast<std::int64_t>(number); }

}  // namespace

Result<std::size_t> read_word(const Value& value, const Place& at, std::span<const std::string_view> words) {
  if (!value.is(ValueKind::string)) return at.expected(fmt::format("one of {}", fmt::join(words, ", ")), value);
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] == value.string()) return i;
  return at.unknown_word(value.string(), words);
}

Value word_schema(std::span<const std::string_view> words) {
  Value schema;
  base::Array list;
  for (const auto word : words) list.emplace_back(word);
  schema.set("type", "string");
  schema.set("enum", std::move(list));
  return schema;
}

Result<std::uint64_t> read_count(const Value& value, const Place& at, Range range) {
  const bool fits = value.is(ValueKind::integer) && value.integer() >= 0 && inside(static_cast<std::uint64_t>(value.integer()), range);
  if (!fits)
    return at.expected(fmt::format("an integer from {} to {}", range.min, range.max), value,
                       value.is(ValueKind::string) ? "write the number without quotes and without a unit" : "");
  return static_cast<std::uint64_t>(value.integer());
}

Value count_schema(Range range) {
  Value schema;
  schema.set("type", "integer");
  schema.set("minimum", signed_value(range.min));
  schema.set("maximum", signed_value(range.max));
  return schema;
}

Result<bool> Flag::read(const Value& value, const Place& at) {
  if (!value.is(ValueKind::boolean)) return at.expected(base::kind_name(ValueKind::boolean), value);
  return value.boolean();
}

Value Flag::schema() {
  Value schema;
  schema.set("type", "boolean");
  return schema;
}

Result<std::uint64_t> Bytes::read(const Value& value, const Place& at) {
  const auto what = fmt::format("a size from {} to {} bytes", output_range.min, output_range.max);
  if (value.is(ValueKind::string)) {
    const auto bytes = base::parse_size(value.string());
    if (!bytes) return retold(at, bytes.error());
    if (!inside(*bytes, output_range)) return at.expected(what, value);
    return *bytes;
  }
  const bool fits =
      value.is(ValueKind::integer) && value.integer() >= 0 && inside(static_cast<std::uint64_t>(value.integer()), output_range);
  if (!fits) return at.expected(what, value);
  return static_cast<std::uint64_t>(value.integer());
}

Value Bytes::schema() {
  Value schema;
  schema.set("type", types({"integer", "string"}));
  schema.set("minimum", signed_value(output_range.min));
  schema.set("maximum", signed_value(output_range.max));
  schema.set("pattern", "^[0-9]+([KkMmGgTt]([Ii][Bb])?|[Bb])?$");
  return schema;
}

Result<std::uint64_t> Processors::read(const Value& value, const Place& at) {
  const auto thousandths = is_number(value) ? thousandths_of(value, processor_range.max) : std::nullopt;
  if (!thousandths || !inside(*thousandths, processor_range))
    return at.expected("a number from 0.001 to 4096 with at most three decimals", value);
  return *thousandths;
}

Value Processors::print(std::uint64_t thousandths) {
  if (thousandths % 1000 == 0) return thousandths / 1000;
  return static_cast<double>(thousandths) / 1000;
}

Value Processors::schema() {
  Value schema;
  schema.set("type", "number");
  schema.set("minimum", 0.001);
  schema.set("maximum", 4096);
  return schema;
}

Result<std::chrono::milliseconds> Duration::read(const Value& value, const Place& at) {
  std::optional<std::uint64_t> milliseconds;
  if (value.is(ValueKind::string)) {
    const auto parsed = base::parse_duration(value.string());
    if (!parsed) return retold(at, parsed.error());
    milliseconds = static_cast<std::uint64_t>(parsed->count());
  } else if (is_number(value)) {
    milliseconds = thousandths_of(value, duration_range.max);
  }
  if (!milliseconds || !inside(*milliseconds, duration_range))
    return at.expected("a duration from 1ms to 8760h, or a number of seconds", value);
  return std::chrono::milliseconds(static_cast<std::int64_t>(*milliseconds));
}

Value Duration::print(std::chrono::milliseconds duration) { return base::duration_text(duration); }

Value Duration::schema() {
  Value schema;
  schema.set("type", types({"string", "number"}));
  schema.set("minimum", 0.001);
  schema.set("maximum", signed_value(duration_range.max / 1000));
  schema.set("pattern", "^[0-9]+(\\.[0-9]+)?(ms|s|m|h)?$");
  return schema;
}

}  // namespace harn::policy
