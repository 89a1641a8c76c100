// SPDX-License-Identifier: Apache-2.0
// Parsing and printing of IP addresses by hand: one spelling in, one spelling out.
#include "policy/ip_address.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"

namespace harn::policy {
namespace {

constexpr int groups_v6 = 8;

std::optional<std::uint32_t> parse_number(std::string_view text, int base, std::uint32_t max) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || value > max) return std::nullopt;
  return value;
}

// C notation: 0x… is hexadecimal, a leading zero octal.
std::optional<std::uint32_t> parse_c_number(std::string_view text) {
  if (text.starts_with("0x")) return text.size() == 2 ? 0 : parse_number(text.substr(2), 16, UINT32_MAX);
  if (text.size() > 1 && text.front() == '0') return parse_number(text.substr(1), 8, UINT32_MAX);
  return parse_number(text, 10, UINT32_MAX);
}

IpBlock ipv4_of(std::uint32_t number) {
  IpBlock block{.v6 = false, .bits = {}, .length = 32};
  for (std::size_t i = 0; i < 4; ++i) block.bits[i] = static_cast<std::uint8_t>(number >> (24 - 8 * i));
  return block;
}

using Groups = std::vector<std::uint16_t>;

// The groups on one side of "::". Dotted decimal may only stand at the very end of the address.
std::optional<Groups> parse_groups(std::string_view text, bool at_end) {
  Groups groups;
  if (text.empty()) return groups;
  const auto parts = base::split(text, ':');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (at_end && i + 1 == parts.size() && parts[i].find('.') != std::string_view::npos) {
      const auto tail = parse_ipv4(parts[i]);
      if (!tail) return std::nullopt;
      groups.push_back(static_cast<std::uint16_t>(tail->bits[0] << 8 | tail->bits[1]));
      groups.push_back(static_cast<std::uint16_t>(tail->bits[2] << 8 | tail->bits[3]));
      continue;
    }
    if (parts[i].empty() || parts[i].size() > 4) return std::nullopt;
    const auto group = parse_number(parts[i], 16, 0xffff);
    if (!group) return std::nullopt;
    groups.push_back(static_cast<std::uint16_t>(*group));
  }
  return groups;
}

std::array<std::uint16_t, groups_v6> groups_of(const IpBlock& block) {
  std::array<std::uint16_t, groups_v6> groups{};
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i] = static_cast<std::uint16_t>(block.bits[2 * i] << 8 | block.bits[2 * i + 1]);
  return groups;
}

struct Run {
  std::size_t begin = 0;
  std::size_t size = 0;
};

// RFC 5952 §4.2: the first longest run of at least two zero groups is written "::".
Run longest_zero_run(const std::array<std::uint16_t, groups_v6>& groups) {
  Run best;
  for (std::size_t i = 0; i < groups.size();) {
    std::size_t end = i;
    while (end < groups.size() && groups[end] == 0) ++end;
    if (end - i > std::max<std::size_t>(best.size, 1)) best = {i, end - i};
    i = std::max(end, i + 1);
  }
  return best;
}

std::string print_ipv6(const IpBlock& block) {
  const auto groups = groups_of(block);
  const Run zeros = longest_zero_run(groups);
  std::string text;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (zeros.size > 0 && i == zeros.begin) {
      text += "::";
      i += zeros.size - 1;
      continue;
    }
    if (!text.empty() && text.back() != ':') text += ':';
    text += fmt::format("{:x}", groups[i]);
  }
  return text;
}

}  // namespace

std::optional<int> parse_decimal(std::string_view text, int max) {
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  const auto number = parse_number(text, 10, static_cast<std::uint32_t>(max));
  if (!number) return std::nullopt;
  return static_cast<int>(*number);
}

std::optional<IpBlock> parse_ipv4(std::string_view text) {
  const auto parts = base::split(text, '.');
  if (parts.size() != 4) return std::nullopt;
  std::uint32_t number = 0;
  for (const auto part : parts) {
    const auto octet = parse_decimal(part, 255);
    if (!octet) return std::nullopt;
    number = number << 8 | static_cast<std::uint32_t>(*octet);
  }
  return ipv4_of(number);
}

std::optional<IpBlock> guess_ipv4(std::string_view text) {
  const auto parts = base::split(text, '.');
  if (parts.size() > 4) return std::nullopt;
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto part = parse_c_number(parts[i]);
    const bool last = i + 1 == parts.size();
    const auto bits = last ? 8 * (5 - parts.size()) : 8;  // the last part fills what is left
    if (!part || std::uint64_t{*part} >> bits != 0) return std::nullopt;
    number = number << bits | *part;
  }
  return ipv4_of(static_cast<std::uint32_t>(number));
}

std::optional<IpBlock> parse_ipv6(std::string_view text) {
  const auto gap = text.find("::");
  const auto head = parse_groups(text.substr(0, gap), gap == std::string_view::npos);
  const auto tail = gap == std::string_view::npos ? Groups{} : parse_groups(text.substr(gap + 2), true);
  if (!head || !tail) return std::nullopt;
  const std::size_t written = head->size() + tail->size();
  if (gap == std::string_view::npos ? written != groups_v6 : written >= groups_v6) return std::nullopt;

  IpBlock block{.v6 = true, .bits = {}, .length = 128};
  const auto store = [&](std::size_t at, std::uint16_t group) {
    block.bits[2 * at] = static_cast<std::uint8_t>(group >> 8);
    block.bits[2 * at + 1] = static_cast<std::uint8_t>(group & 0xff);
  };
  for (std::size_t i = 0; i < head->size(); ++i) store(i, (*head)[i]);
  for (std::size_t i = 0; i < tail->size(); ++i) store(groups_v6 - tail->size() + i, (*tail)[i]);
  return block;
}

IpBlock fold_mapped(const IpBlock& block) {
  static constexpr std::array<std::uint8_t, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (!block.v6 || block.length < 96 || !std::equal(mapped.begin(), mapped.end(), block.bits.begin())) return block;
  IpBlock folded{.v6 = false, .bits = {}, .length = block.length - 96};
  std::copy(block.bits.begin() + 12, block.bits.end(), folded.bits.begin());
  return folded;
}

IpBlock masked(IpBlock block) {
  for (int bit = block.length; bit < 128; ++bit)
    block.bits[static_cast<std::size_t>(bit / 8)] &= static_cast<std::uint8_t>(~(0x80 >> bit % 8));
  return block;
}

std::string print_ip(const IpBlock& block) {
  const auto& b = block.bits;
  std::string text = block.v6 ? print_ipv6(block) : fmt::format("{}.{}.{}.{}", b[0], b[1], b[2], b[3]);
  if (block.length != block.full_length()) text += fmt::format("/{}", block.length);
  return text;
}

}  // namespace harn::policy
