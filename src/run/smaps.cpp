// SPDX-License-Identifier: Apache-2.0
#include "run/smaps.h"

#include <sys/sysmacros.h>

#include <charconv>
#include <optional>

#include "base/text.h"
#include "run/proc_tree.h"

namespace harn::run {
namespace {

template <class Number>
Number number(std::string_view text, int base) {
  Number out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out, base);
  return out;
}

// A line such as "7f00-7f80 rw-s 00000000 00:01 1029   /memfd:x (deleted)" begins a mapping.
std::optional<Mapping> parse_header(std::string_view line) {
  const auto words = base::split(line, ' ');
  if (words.size() < 5) return std::nullopt;
  const auto dash = words[0].find('-');
  const auto colon = words[3].find(':');
  if (dash == std::string_view::npos || colon == std::string_view::npos) return std::nullopt;
  const auto begin = number<std::uint64_t>(words[0].substr(0, dash), 16);
  return Mapping{.size = number<std::uint64_t>(words[0].substr(dash + 1), 16) - begin,
                 .offset = number<std::uint64_t>(words[2], 16),
                 .device = makedev(number<unsigned>(words[3].substr(0, colon), 16), number<unsigned>(words[3].substr(colon + 1), 16)),
                 .inode = number<std::uint64_t>(words[4], 10),
                 .system_v = line.find(" /SYSV") != std::string_view::npos};
}

}  // namespace

std::vector<Mapping> parse_smaps(std::string_view text) {
  std::vector<Mapping> out;
  for (const auto line : base::split(text, '\n')) {
    if (auto mapping = parse_header(line)) out.push_back(*mapping);
    else if (!out.empty() && line.starts_with("Pss:")) out.back().proportion = bytes_of(line, "Pss");
    else if (!out.empty() && line.starts_with("Anonymous:")) out.back().anonymous = bytes_of(line, "Anonymous");
  }
  return out;
}

}  // namespace harn::run
