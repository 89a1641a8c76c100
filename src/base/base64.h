// SPDX-License-Identifier: Apache-2.0
// Bytes as text of 64 characters (RFC 4648), padded.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace harn::base {

std::string to_base64(std::string_view bytes);
std::optional<std::string> from_base64(std::string_view text);

}  // namespace harn::base
