// SPDX-License-Identifier: Apache-2.0
// Prints what a person would have written: short lists on one line, long ones one entry per line.
#include "policy/print_toml.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"

namespace harn::policy {
namespace {

using base::Value;
using base::ValueKind;

constexpr std::size_t line_width = 100;

bool is_bare(std::string_view key) {
  static constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
  return !key.empty() && key.find_first_not_of(letters) == std::string_view::npos;
}

// A JSON string is a TOML basic string, except that TOML wants DEL escaped and lacks surrogates; a byte
// that is no UTF-8 is printed as a lone surrogate, so a reader refuses it rather than mistaking it.
std::string string_text(std::string_view text) {
  std::string out;
  for (const char c : base::print_json(Value(text))) {
    if (c == '\x7F') out += "\\u007f";
    else out += c;
  }
  return out;
}

std::string key_text(std::string_view key) { return is_bare(key) ? std::string(key) : string_text(key); }

std::string inline_text(const Value& value);

std::string inline_table(const base::Object& object) {
  std::string out;
  for (const auto& member : object)
    out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", key_text(member.name), inline_text(member.value));
  return "{" + out + "}";
}

std::string inline_text(const Value& value) {
  if (value.is(ValueKind::string)) return string_text(value.string());
  if (value.is(ValueKind::object)) return inline_table(value.object());
  if (!value.is(ValueKind::array)) return base::print_json(value);
  std::vector<std::string> entries;
  for (const auto& entry : value.array()) entries.push_back(inline_text(entry));
  return "[" + base::join(entries, ", ") + "]";
}

std::string member_text(const base::Member& member) {
  auto line = fmt::format("{} = {}\n", key_text(member.name), inline_text(member.value));
  if (line.size() <= line_width || !member.value.is(ValueKind::array)) return line;
  auto lines = fmt::format("{} = [\n", key_text(member.name));
  for (const auto& entry : member.value.array()) lines += fmt::format("  {},\n", inline_text(entry));
  return lines + "]\n";
}

// A table that only holds tables is implied by their headers.
bool needs_header(const base::Object& object) {
  return object.empty() || std::any_of(object.begin(), object.end(), [](const base::Member& m) { return !m.value.is(ValueKind::object); });
}

void append_table(std::string& out, const base::Object& object, const std::string& path) {
  for (const auto& member : object)
    if (!member.value.is(ValueKind::object)) out += member_text(member);
  for (const auto& member : object) {
    if (!member.value.is(ValueKind::object)) continue;
    const auto inner = path.empty() ? key_text(member.name) : fmt::format("{}.{}", path, key_text(member.name));
    if (needs_header(member.value.object())) out += fmt::format("{}[{}]\n", out.empty() ? "" : "\n", inner);
    append_table(out, member.value.object(), inner);
  }
}

}  // namespace

std::string print_toml(const Value& root) {
  std::string out;
  append_table(out, root.object(), {});
  return out;
}

}  // namespace harn::policy
