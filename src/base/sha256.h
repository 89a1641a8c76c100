// SPDX-License-Identifier: Apache-2.0
// SHA-256, for policy and plan digests. Pure, so that the policy layer needs no crypto library.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace harn::base {

std::array<std::uint8_t, 32> sha256(std::string_view bytes);
std::string sha256_hex(std::string_view bytes);

// The same over bytes that come in pieces.
class Sha256 {
 public:
  void add(std::string_view bytes);
  std::uint64_t size() const { return size_; }
  std::array<std::uint8_t, 32> digest() const;  // of everything so far; more may follow
  std::string hex() const;

 private:
  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::uint64_t size_ = 0;
  std::string begun_ = {};  // of a block that is not full
};

}  // namespace harn::base
