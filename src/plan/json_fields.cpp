// SPDX-License-Identifier: Apache-2.0
// The parts of json_fields.h that depend on no type: errors, exact text, wide numbers, map keys.
#include "plan/json_fields.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/base64.h"
#include "base/text.h"

namespace harn::plan {
namespace {

std::string pointer_part(std::string_view name) {
  std::string out = "/";
  for (const char c : name) {
    if (c == '~') out += "~0";
    else if (c == '/') out += "~1";
    else out += c;
  }
  return out;
}

}  // namespace

std::unexpected<Error> broken(std::string message, std::string hint) {
  return fail(Error{.code = ErrorCode::protocol, .stage = Stage::parse, .message = std::move(message), .hint = std::move(hint)});
}

std::unexpected<Error> wrong_kind(const base::Value& got, std::string_view wanted) {
  return broken(fmt::format("expected {}, got {}", wanted, base::kind_name(got.kind())));
}

std::unexpected<Error> wrong_word(std::string_view got, std::span<const std::string_view> words) {
  const auto near = base::nearest_name(got, words);
  return broken(fmt::format("{} is not a valid word here", base::quoted(got)),
                near.empty() ? fmt::format("use one of {}", fmt::join(words, ", ")) : fmt::format("did you mean '{}'?", near));
}

std::unexpected<Error> out_of_range(std::uint64_t number) {
  return broken(fmt::format("the number {} is out of range here", static_cast<std::int64_t>(number)));
}

Status beneath(Status status, std::string_view name) {
  if (!status) status.error().where.insert(0, pointer_part(name));
  return status;
}

Status beneath(Status status, std::size_t index) {
  return status ? status : beneath(std::move(status), std::string_view(std::to_string(index)));
}

Status check_names(const base::Value& object, std::span<const std::string_view> names, std::string_view also) {
  for (const auto& member : object.object()) {
    if (member.name == also || std::ranges::find(names, member.name) != names.end()) continue;
    const auto near = base::nearest_name(member.name, names);
    return broken(fmt::format("the member {} is not known here", base::quoted(member.name)),
                  near.empty() ? fmt::format("known are {}", fmt::join(names, ", ")) : fmt::format("did you mean '{}'?", near));
  }
  return {};
}

base::Value write_text(std::string_view text) {
  if (base::valid_utf8(text)) return text;
  base::Value out;
  out.set("base64", base::to_base64(text));
  return out;
}

base::Value write_text(std::string&& text) {
  if (base::valid_utf8(text)) return std::move(text);
  return write_text(std::string_view(text));
}

Status read_text(const base::Value& value, std::string& out) {
  if (value.is(base::ValueKind::string)) {
    out = value.string();
    return {};
  }
  const auto* coded = value.find("base64");
  if (coded == nullptr || !coded->is(base::ValueKind::string) || value.object().size() != 1) return wrong_kind(value, "a string");
  auto bytes = base::from_base64(coded->string());
  if (!bytes) return beneath(broken(fmt::format("{} is not base64", base::quoted(coded->string()))), "base64");
  out = std::move(*bytes);
  return {};
}

Status read_path(std::string_view text, AbsPath& out) {
  auto path = AbsPath::parse(text);
  if (!path) return broken(std::move(path.error().message), std::move(path.error().hint));
  out = std::move(*path);
  return {};
}

base::Value write_unsigned(std::uint64_t number) {
  if (number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return number;
  return fmt::format("{:#x}", number);
}

Status read_unsigned(const base::Value& value, std::uint64_t& out) {
  if (value.is(base::ValueKind::integer)) {
    if (value.integer() < 0) return out_of_range(static_cast<std::uint64_t>(value.integer()));
    out = static_cast<std::uint64_t>(value.integer());
    return {};
  }
  if (!value.is(base::ValueKind::string) || !value.string().starts_with("0x")) return wrong_kind(value, "an integer");
  const std::string_view digits = std::string_view(value.string()).substr(2);
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), out, 16);
  if (problem != std::errc{} || end != digits.data() + digits.size())
    return broken(fmt::format("{} is not a 64-bit number", base::quoted(value.string())));
  return {};
}

base::Value write_pairs(base::Object pairs) {
  if (std::ranges::all_of(pairs, [](const auto& pair) { return base::valid_utf8(pair.name); })) return pairs;
  base::Array list;
  for (auto& pair : pairs) list.push_back(base::Array{write_text(pair.name), std::move(pair.value)});
  return list;
}

Result<base::Object> read_pairs(const base::Value& value) {
  if (value.is(base::ValueKind::object)) return value.object();
  if (!value.is(base::ValueKind::array)) return wrong_kind(value, "an object");
  base::Object pairs;
  for (const auto& entry : value.array()) {
    if (!entry.is(base::ValueKind::array) || entry.array().size() != 2) return wrong_kind(entry, "a pair of key and value");
    std::string key;
    HARN_OK(read_text(entry.array()[0], key));
    if (std::ranges::find(pairs, key, &base::Member::name) != pairs.end())
      return broken(fmt::format("the key {} stands twice", base::quoted(key)));
    pairs.push_back({std::move(key), entry.array()[1], {}});
  }
  return pairs;
}

}  // namespace harn::plan
