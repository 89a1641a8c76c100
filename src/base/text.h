// SPDX-License-Identifier: Apache-2.0
// Small text functions shared by every layer: quoting for people, nearest names, lists.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace harn::base {

// 'text' with control characters, characters that turn or hide others, quotes and invalid UTF-8 made
// visible; cut to `max` characters.
std::string quoted(std::string_view text, std::size_t max = 120);
// The same for a whole line that is said to a person: no quotes, no end.
std::string one_line(std::string_view text);

// A word for POSIX shells: unchanged when safe, else in single quotes.
std::string shell_word(std::string_view text);

std::vector<std::string_view> split(std::string_view text, char separator);
std::string join(std::span<const std::string> parts, std::string_view separator);
std::string_view trim(std::string_view text);
std::string lower_ascii(std::string_view text);
bool valid_utf8(std::string_view text);

// The candidate a typo most likely meant; empty when none is near.
std::string_view nearest_name(std::string_view typo, std::span<const std::string_view> candidates);

}  // namespace harn::base
