// SPDX-License-Identifier: Apache-2.0
#include "base/utf16.h"

#include "base/text.h"

namespace harn::base {
namespace {

constexpr char32_t first_of_pair = 0xD800;
constexpr char32_t second_of_pair = 0xDC00;
constexpr char32_t after_pairs = 0xE000;
constexpr char32_t beyond_one_unit = 0x10000;

// The text is valid, so the first byte says how many follow.
char32_t take_code_point(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[i])); };
  const auto first = byte(at++);
  if (first < 0x80) return first;
  const int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
  char32_t point = first & (0x3Fu >> more);
  for (int i = 0; i < more; ++i) point = (point << 6) | (byte(at++) & 0x3Fu);
  return point;
}

void append_utf8(std::string& out, char32_t point) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((point >> shift) & 0x3F)); };
  if (point < 0x80) {
    out += static_cast<char>(point);
  } else if (point < 0x800) {
    out += static_cast<char>(0xC0 | (point >> 6));
    tail(0);
  } else if (point < beyond_one_unit) {
    out += static_cast<char>(0xE0 | (point >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0 | (point >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

std::unexpected<Error> not_text(std::string message) {
  return fail(Error{
      .code = ErrorCode::invalid_command, .stage = Stage::prepare, .message = std::move(message), .hint = "Windows needs Unicode text"});
}

}  // namespace

Result<std::u16string> to_utf16(std::string_view text) {
  if (!valid_utf8(text)) return not_text("the text " + quoted(text) + " is not valid UTF-8");
  std::u16string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto point = take_code_point(text, at);
    if (point < beyond_one_unit) {
      out += static_cast<char16_t>(point);
      continue;
    }
    const auto rest = point - beyond_one_unit;
    out += static_cast<char16_t>(first_of_pair + (rest >> 10));
    out += static_cast<char16_t>(second_of_pair + (rest & 0x3FF));
  }
  return out;
}

Result<std::string> to_utf8(std::u16string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    char32_t point = text[at];
    if (point >= first_of_pair && point < after_pairs) {
      const char32_t next = at + 1 < text.size() ? text[at + 1] : 0;
      if (point >= second_of_pair || next < second_of_pair || next >= after_pairs)
        return not_text("a name of this system holds half of a surrogate pair, after " + quoted(out));
      point = beyond_one_unit + ((point - first_of_pair) << 10) + (next - second_of_pair);
      ++at;
    }
    append_utf8(out, point);
  }
  return out;
}

}  // namespace harn::base
