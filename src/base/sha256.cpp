// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4): padding and pieces; the rounds are in sha256_rounds.cpp.
#include "base/sha256.h"

#include <algorithm>
#include <cstddef>

#include "base/sha256_rounds.h"

namespace harn::base {
namespace {

void add_blocks(Sha256State& state, std::string_view text) {
  const auto blocks = text.size() / 64;
  if (blocks == 0 || add_blocks_by_instruction(state, text.data(), blocks)) return;
  for (std::size_t i = 0; i < blocks; ++i) add_block_by_hand(state, text.data() + 64 * i);
}

std::string hex_of(const std::array<std::uint8_t, 32>& digest) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (const auto byte : digest) {
    out += digits[byte >> 4];
    out += digits[byte & 0xF];
  }
  return out;
}

}  // namespace

void Sha256::add(std::string_view bytes) {
  size_ += bytes.size();
  if (!begun_.empty()) {
    const auto missing = std::min<std::size_t>(64 - begun_.size(), bytes.size());
    begun_ += bytes.substr(0, missing);
    bytes.remove_prefix(missing);
    if (begun_.size() < 64) return;
    add_blocks(state_, begun_);
    begun_.clear();
  }
  add_blocks(state_, bytes);
  begun_ = bytes.substr(bytes.size() / 64 * 64);
}

std::array<std::uint8_t, 32> Sha256::digest() const {
  auto state = state_;
  auto padded = begun_;
  const std::uint64_t bits = size_ * 8;
  padded += static_cast<char>(0x80);
  while (padded.size() % 64 != 56) padded += '\0';
  for (int shift = 56; shift >= 0; shift -= 8) padded += static_cast<char>(bits >> shift & 0xFF);
  add_blocks(state, padded);
  std::array<std::uint8_t, 32> digest{};
  for (std::size_t i = 0; i < 32; ++i) digest[i] = static_cast<std::uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

std::string Sha256::hex() const { return hex_of(digest()); }

std::array<std::uint8_t, 32> sha256(std::string_view bytes) {
  Sha256 sum;
  sum.add(bytes);
  return sum.digest();
}

std::string sha256_hex(std::string_view bytes) { return hex_of(sha256(bytes)); }

}  // namespace harn::base
