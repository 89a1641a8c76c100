// SPDX-License-Identifier: Apache-2.0
// ed25519 over the anchor. The only file that knows the library; nothing of it runs until somebody seals.
#pragma once

#include <string>
#include <string_view>

#include "harn/result.h"

namespace harn::audit {

struct KeyPair {
  std::string public_key = {};  // hex, 64 digits
  std::string secret_key = {};  // hex, 128 digits
};

Result<KeyPair> make_keys();

// Hex, 128 digits. An error when this is no secret key, or not the one that belongs to `public_key`.
Result<std::string> make_seal(std::string_view text, std::string_view secret_key, std::string_view public_key);

// False also for a key or a seal that is none.
bool seal_is_right(std::string_view text, std::string_view seal, std::string_view public_key);

}  // namespace harn::audit
