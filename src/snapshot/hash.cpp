// SPDX-License-Identifier: Apache-2.0
#include "snapshot/hash.h"

#include <sodium.h>

#include <array>

namespace harn::snapshot {

struct Hash::State {
  crypto_generichash_state inner = {};
};

Hash::Hash() : state_(std::make_unique<State>()) { crypto_generichash_init(&state_->inner, nullptr, 0, crypto_generichash_BYTES); }
Hash::~Hash() = default;

void Hash::add(std::string_view bytes) {
  crypto_generichash_update(&state_->inner, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

std::string Hash::hex() {
  std::array<unsigned char, crypto_generichash_BYTES> digest = {};
  crypto_generichash_final(&state_->inner, digest.data(), digest.size());
  std::string out;
  constexpr auto digits = "0123456789abcdef";
  for (const auto byte : digest) {
    out.push_back(digits[byte >> 4]);
    out.push_back(digits[byte & 15]);
  }
  return out;
}

}  // namespace harn::snapshot
