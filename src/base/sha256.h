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

}  // namespace harn::base
