// SPDX-License-Identifier: Apache-2.0
#include "base/base64.h"

#include <algorithm>
#include <cstdint>

namespace harn::base {
namespace {

constexpr std::string_view base64_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) group = (group << 8) | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    for (std::size_t j = 0; j < 4; ++j) out += i + j <= bytes.size() ? base64_digits[(group >> (18 - 6 * j)) & 63] : '=';
  }
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const auto padding = text.size() - std::min(text.size(), text.find_last_not_of('=') + 1);
  if (padding > 2) return std::nullopt;
  std::string out;
  std::uint32_t group = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digit = i < text.size() - padding ? base64_digits.find(text[i]) : 0;
    if (digit == std::string_view::npos) return std::nullopt;
    group = (group << 6) | static_cast<std::uint32_t>(digit);
    if (i % 4 != 3) continue;
    for (int shift = 16; shift >= 0; shift -= 8) out += static_cast<char>((group >> shift) & 0xFF);
    group = 0;
  }
  out.resize(out.size() - padding);
  return out;
}

}  // namespace harn::base
