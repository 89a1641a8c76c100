// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic only, so that every accepted text has one exact meaning.
#include "base/units.h"

#include <array>
#include <charconv>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"

namespace harn::base {
namespace {

struct Unit {
  std::string_view suffix = {};
  std::uint64_t factor = 1;
};

constexpr std::array size_units{Unit{"", 1},           Unit{"b", 1},
                                Unit{"k", 1ULL << 10}, Unit{"kib", 1ULL << 10},
                                Unit{"m", 1ULL << 20}, Unit{"mib", 1ULL << 20},
                                Unit{"g", 1ULL << 30}, Unit{"gib", 1ULL << 30},
                                Unit{"t", 1ULL << 40}, Unit{"tib", 1ULL << 40}};

constexpr std::array duration_units{Unit{"", 1000}, Unit{"ms", 1}, Unit{"s", 1000}, Unit{"m", 60'000}, Unit{"h", 3'600'000}};

// Twelve digits times the largest duration factor stay below 2^63.
constexpr std::size_t max_duration_digits = 12;

std::unexpected<Error> wrong(std::string message, std::string hint) {
  return fail(Error{.code = ErrorCode::invalid_policy, .stage = Stage::parse, .message = std::move(message), .hint = std::move(hint)});
}

std::optional<std::uint64_t> factor_of(std::span<const Unit> units, std::string_view suffix) {
  for (const auto& unit : units)
    if (unit.suffix == suffix) return unit.factor;
  return std::nullopt;
}

std::size_t count_digits(std::string_view text) {
  const auto end = text.find_first_not_of("0123456789");
  return end == std::string_view::npos ? text.size() : end;
}

// All digits; nothing when it does not fit.
std::optional<std::uint64_t> number_of(std::string_view digits) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{}) return std::nullopt;
  return number;
}

// "12", ".5" → the digits of 12.5 as one number and how many of them are fractional.
struct Decimal {
  std::string digits = {};
  std::size_t fractional = 0;
  std::string_view suffix = {};
};

std::optional<Decimal> split_decimal(std::string_view text) {
  const auto whole = count_digits(text);
  if (whole == 0) return std::nullopt;
  Decimal decimal{.digits = std::string(text.substr(0, whole)), .fractional = 0, .suffix = text.substr(whole)};
  if (!decimal.suffix.starts_with('.')) return decimal;
  const auto rest = decimal.suffix.substr(1);
  decimal.fractional = count_digits(rest);
  if (decimal.fractional == 0) return std::nullopt;
  decimal.digits += rest.substr(0, decimal.fractional);
  decimal.suffix = rest.substr(decimal.fractional);
  return decimal;
}

std::uint64_t power_of_ten(std::size_t exponent) {
  std::uint64_t power = 1;
  for (std::size_t i = 0; i < exponent; ++i) power *= 10;
  return power;
}

}  // namespace

Result<std::uint64_t> parse_size(std::string_view text) {
  static constexpr std::string_view hint = "write bytes, or a whole number with K, M, G or T (powers of 1024), such as 512M";
  const auto digits = count_digits(text);
  const auto factor = factor_of(size_units, lower_ascii(text.substr(digits)));
  if (digits == 0 || !factor) return wrong(fmt::format("{} is not a size", quoted(text)), std::string(hint));
  const auto number = number_of(text.substr(0, digits));
  if (!number || *number > std::numeric_limits<std::uint64_t>::max() / *factor)
    return wrong(fmt::format("the size {} is too large", quoted(text)), std::string(hint));
  return *number * *factor;
}

std::string size_text(std::uint64_t bytes) {
  static constexpr std::array largest_first{Unit{"T", 1ULL << 40}, Unit{"G", 1ULL << 30}, Unit{"M", 1ULL << 20}, Unit{"K", 1ULL << 10}};
  for (const auto& unit : largest_first)
    if (bytes != 0 && bytes % unit.factor == 0) return fmt::format("{}{}", bytes / unit.factor, unit.suffix);
  return fmt::format("{}", bytes);
}

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  static constexpr std::string_view hint = "write seconds, or a number with ms, s, m or h such as 30s";
  const auto decimal = split_decimal(text);
  const auto factor = decimal ? factor_of(duration_units, decimal->suffix) : std::nullopt;
  if (!factor) return wrong(fmt::format("{} is not a duration", quoted(text)), std::string(hint));
  if (decimal->digits.size() > max_duration_digits)
    return wrong(fmt::format("the duration {} has too many digits", quoted(text)), std::string(hint));
  const std::uint64_t scaled = number_of(decimal->digits).value_or(0) * *factor;
  const std::uint64_t divisor = power_of_ten(decimal->fractional);
  if (scaled % divisor != 0) return wrong(fmt::format("the duration {} is finer than a millisecond", quoted(text)), std::string(hint));
  return std::chrono::milliseconds(static_cast<std::int64_t>(scaled / divisor));
}

std::string duration_text(std::chrono::milliseconds duration) {
  static constexpr std::array largest_first{Unit{"h", 3'600'000}, Unit{"m", 60'000}, Unit{"s", 1000}};
  const auto count = duration.count();
  if (count == 0) return "0s";
  for (const auto& unit : largest_first)
    if (count % static_cast<std::int64_t>(unit.factor) == 0)
      return fmt::format("{}{}", count / static_cast<std::int64_t>(unit.factor), unit.suffix);
  return fmt::format("{}ms", count);
}

}  // namespace harn::base
