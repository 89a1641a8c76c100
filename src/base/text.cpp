// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace harn::base {
namespace {

struct Character {
  std::size_t length = 0;  // in bytes; 0 = the text does not begin with valid UTF-8
  std::uint32_t code = 0;
};

Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {1, lead};
  std::size_t length = 0;
  std::uint32_t code = 0;
  if (lead >= 0xC2 && lead <= 0xDF) length = 2, code = lead & 0x1F;
  else if (lead >= 0xE0 && lead <= 0xEF) length = 3, code = lead & 0x0F;
  else if (lead >= 0xF0 && lead <= 0xF4) length = 4, code = lead & 0x07;
  if (length == 0 || text.size() < length) return {};
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = (code << 6) | (byte(i) & 0x3F);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (overlong || surrogate || code > 0x10FFFF) return {};
  return {length, code};
}

// Controls (terminals obey U+0080 to U+009F too), and what turns, joins or hides its neighbours: a line
// with these in it does not read as what it is.
bool misleading(std::uint32_t code) {
  struct Range {
    std::uint32_t first, last;
  };
  static constexpr Range ranges[] = {{0x00, 0x1F},     {0x7F, 0x9F},     {0xAD, 0xAD},      {0x061C, 0x061C},
                                     {0x180E, 0x180E}, {0x200B, 0x200F}, {0x2028, 0x202E},  {0x2060, 0x206F},
                                     {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE0FFF}};
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [code](const Range& range) { return code >= range.first && code <= range.last; });
}

void append_escaped_byte(std::string& out, unsigned char byte) {
  static constexpr std::string_view digits = "0123456789abcdef";
  out += "\\x";
  out += digits[byte >> 4];
  out += digits[byte & 0xF];
}

// Moves the first character of `text` over, as it is or byte by byte in hexadecimal.
void append_shown(std::string& out, std::string_view& text) {
  const auto [length, code] = first_of(text);
  const auto bytes = text.substr(0, std::max<std::size_t>(length, 1));
  if (length != 0 && !misleading(code)) {
    out += bytes;
  } else {
    for (const char byte : bytes) append_escaped_byte(out, static_cast<unsigned char>(byte));
  }
  text.remove_prefix(bytes.size());
}

// Insert, remove, replace or swap two neighbours: one edit each.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string quoted(std::string_view text, std::size_t max) {
  std::string out = "'";
  std::size_t shown = 0;
  while (!text.empty()) {
    if (shown++ == max) {
      out += "…";
      break;
    }
    if (text[0] == '\'' || text[0] == '\\') out += '\\';
    append_shown(out, text);
  }
  return out + "'";
}

std::string one_line(std::string_view text) {
  std::string out;
  while (!text.empty()) append_shown(out, text);
  return out;
}

std::string shell_word(std::string_view text) {
  static constexpr std::string_view safe = "@%+=:,./-_";
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || safe.find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return std::string(text);
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += "'\\''";
    else out += c;
  }
  return out + "'";
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto cut = text.find(separator);
    parts.push_back(text.substr(0, cut));
    if (cut == std::string_view::npos) return parts;
    text.remove_prefix(cut + 1);
  }
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i != 0) out += separator;
    out += parts[i];
  }
  return out;
}

std::string_view trim(std::string_view text) {
  static constexpr std::string_view space = " \t\r\n\f\v";
  const auto first = text.find_first_not_of(space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(space) - first + 1);
}

std::string lower_ascii(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

bool valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto length = first_of(text).length;
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string_view nearest_name(std::string_view typo, std::span<const std::string_view> candidates) {
  // Far words are worse than no suggestion: allow one edit per three letters, at least one, at most four.
  if (typo.size() > 64) return {};
  const std::size_t allowed = std::clamp<std::size_t>(typo.size() / 3, 1, 4);
  std::string_view best;
  std::size_t best_distance = allowed + 1;
  const std::string low = lower_ascii(typo);
  for (const auto candidate : candidates) {
    const auto distance = edit_distance(low, lower_ascii(candidate));
    if (distance < best_distance) best = candidate, best_distance = distance;
  }
  return best;
}

}  // namespace harn::base
