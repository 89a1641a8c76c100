// SPDX-License-Identifier: Apache-2.0
#include "sys/mount_table.h"

#include <algorithm>

#include "base/text.h"

namespace harn::sys {
namespace {

// "\040" stands for a space.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool octal = text[i] == '\\' && i + 3 < text.size();
    out += octal ? static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0')) : text[i];
    if (octal) i += 3;
  }
  return out;
}

}  // namespace

// "36 31 0:33 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory"
std::vector<Mount> parse_mounts(std::string_view mountinfo) {
  std::vector<Mount> out;
  for (const auto line : base::split(mountinfo, '\n')) {
    const auto words = base::split(line, ' ');
    const auto dash = std::ranges::find(words, "-");
    if (words.size() < 6 || words.end() - dash < 2) continue;
    out.push_back({.device = std::string(words[2]), .point = unescaped(words[4]), .type = std::string(dash[1])});
  }
  return out;
}

}  // namespace harn::sys
