// SPDX-License-Identifier: Apache-2.0
// Error wording in one place, so that every member complains in the same words.
#include "policy/place.h"

#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"

namespace harn::policy {
namespace {

std::string escaped_for_pointer(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '~') out += "~0";
    else if (c == '/') out += "~1";
    else out += c;
  }
  return out;
}

std::string_view table_word(TextFormat format) { return format == TextFormat::json ? "an object" : "a table"; }

std::string found_text(const base::Value& value, TextFormat format) {
  switch (value.kind()) {
    case base::ValueKind::string: return "the string " + base::quoted(value.string());
    case base::ValueKind::real: return std::isfinite(value.real()) ? base::print_json(value) : fmt::format("{}", value.real());
    case base::ValueKind::array: return std::string(base::kind_name(value.kind()));
    case base::ValueKind::object: return std::string(table_word(format));
    default: return base::print_json(value);
  }
}

// Whether `part` is a run of whole words of `name`: "memory" in "max_memory_mb", not "strict" in "unrestricted".
bool has_words(std::string_view name, std::string_view part) {
  return ("_" + std::string(name) + "_").find("_" + base::lower_ascii(part) + "_") != std::string::npos;
}

// The only known name a shortened one can stand for.
std::string_view longer_name(std::string_view part, std::span<const std::string_view> known) {
  std::string_view found;
  for (const auto name : known) {
    if (!has_words(name, part)) continue;
    if (!found.empty()) return {};
    found = name;
  }
  return found;
}

std::string suggestion(std::string_view typo, std::span<const std::string_view> known, std::string_view otherwise) {
  auto meant = base::nearest_name(typo, known);
  if (meant.empty()) meant = longer_name(typo, known);
  // Whoever wrote "restricted" did not mean "unrestricted".
  if (meant.starts_with("un") && !base::lower_ascii(typo).starts_with("un")) meant = {};
  if (!meant.empty()) return fmt::format("did you mean {}?", base::quoted(meant));
  return fmt::format("{}: {}", otherwise, fmt::join(known, ", "));
}

}  // namespace

Place Place::member(std::string_view name, base::Mark mark) const {
  Place inner(*context_, format_, mark);
  inner.parent_ = this;
  inner.name_ = name;
  return inner;
}

Place Place::entry(std::size_t index, base::Mark mark) const {
  Place inner(*context_, format_, mark);
  inner.parent_ = this;
  inner.index_ = index;
  inner.is_entry_ = true;
  return inner;
}

std::string Place::dotted() const {
  if (parent_ == nullptr) return {};
  const auto outer = parent_->dotted();
  if (is_entry_) return fmt::format("{}[{}]", outer, index_);
  return outer.empty() ? std::string(name_) : fmt::format("{}.{}", outer, name_);
}

std::string Place::name() const { return parent_ == nullptr ? "the policy" : base::quoted(dotted()); }

std::string Place::pointer() const {
  if (parent_ == nullptr) return {};
  return parent_->pointer() + '/' + (is_entry_ ? fmt::format("{}", index_) : escaped_for_pointer(name_));
}

std::string Place::where() const {
  std::string out = context_->file_name;
  if (mark_.line != 0) out += fmt::format("{}{}:{}", out.empty() ? "" : ":", mark_.line, mark_.column);
  if (format_ == TextFormat::json) out += '#' + pointer();
  return out;
}

std::unexpected<Error> Place::wrong(std::string message, std::string hint) const {
  return fail(Error{
      .code = ErrorCode::invalid_policy, .stage = Stage::parse, .message = std::move(message), .hint = std::move(hint), .where = where()});
}

std::unexpected<Error> Place::expected(std::string_view what, const base::Value& found, std::string hint) const {
  const bool is_member = parent_ != nullptr && !is_entry_;
  if (hint.empty() && is_member && found.is(base::ValueKind::null)) hint = "leave the member out to leave it unset";
  return wrong(fmt::format("{} must be {}, found {}", name(), what, found_text(found, format_)), std::move(hint));
}

std::unexpected<Error> Place::expected_table(const base::Value& found) const { return expected(table_word(format_), found); }

std::unexpected<Error> Place::unknown_member(const base::Member& unknown, std::span<const std::string_view> known) const {
  const auto inside = parent_ == nullptr ? std::string() : fmt::format(" in {}", name());
  return member(unknown.name, unknown.mark)
      .wrong(fmt::format("unknown member {}{}", base::quoted(unknown.name), inside), suggestion(unknown.name, known, "valid members are"));
}

std::unexpected<Error> Place::unknown_word(std::string_view found, std::span<const std::string_view> known) const {
  return wrong(fmt::format("{} has the unknown value {}", name(), base::quoted(found)), suggestion(found, known, "valid values are"));
}

}  // namespace harn::policy
