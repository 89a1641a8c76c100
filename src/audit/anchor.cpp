// SPDX-License-Identifier: Apache-2.0
#include "audit/anchor.h"

#include <charconv>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "base/sha256.h"
#include "base/text.h"

namespace harn::audit {
namespace {

constexpr std::string_view format_name = "harn-audit-1";
constexpr std::size_t words_of_a_slot = 18;
constexpr std::size_t sum_digits = 32;
constexpr std::int64_t clock_tolerance_ms = 5000;  // clocks are corrected now and then

template <class T>
bool read(std::string_view text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

bool read_end(const std::vector<std::string_view>& words, std::size_t at, End& end) {
  end.head.hash = std::string(words[at + 1]);
  return read(words[at], end.head.count) && end.head.hash.size() == hash_digits && read(words[at + 2], end.segment) &&
         read(words[at + 3], end.size);
}

std::string end_text(const End& end) { return fmt::format("{} {} {} {}", end.head.count, end.head.hash, end.segment, end.size); }

std::string sum_of(std::string_view text) { return base::sha256_hex(text).substr(0, sum_digits); }

std::string padded(std::string text) {
  text.resize(slot_bytes, '\n');
  return text;
}

}  // namespace

std::string sealed_text(const Slot& slot) {
  return fmt::format("{} {} {} {} {} {} {} {} {} {}", format_name, slot.generation, end_text(slot.end), slot.first, slot.before_first,
                     slot.segment_began_ms, slot.real_ms, slot.boot_ms, end_text(slot.announced.value_or(End{.segment = 0})), slot.key);
}

std::string print_slot(const Slot& slot) {
  const auto text = fmt::format("{} {}", sealed_text(slot), slot.seal);
  return padded(fmt::format("{} {}\n", text, sum_of(text)));
}

std::optional<Slot> parse_slot(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  const auto last = text.rfind(' ');
  if (last == std::string_view::npos || text.substr(last + 1) != sum_of(text.substr(0, last))) return std::nullopt;
  const auto words = base::split(text, ' ');
  if (words.size() != words_of_a_slot || words[0] != format_name) return std::nullopt;
  Slot slot;
  End announced;
  const bool whole = read(words[1], slot.generation) && read_end(words, 2, slot.end) && read(words[6], slot.first) &&
                     read(words[8], slot.segment_began_ms) && read(words[9], slot.real_ms) && read(words[10], slot.boot_ms) &&
                     read_end(words, 11, announced);
  if (!whole) return std::nullopt;
  slot.before_first = std::string(words[7]);
  if (announced.segment != 0) slot.announced = announced;
  slot.key = std::string(words[15]);
  slot.seal = std::string(words[16]);
  return slot;
}

Anchor parse_anchor(std::string_view text) {
  Anchor anchor;
  if (text.size() < anchor_bytes) return anchor;
  anchor.settled = parse_slot(text.substr(0, slot_bytes));
  auto announced = parse_slot(text.substr(slot_bytes, slot_bytes));
  if (announced && announced->announced && (!anchor.settled || announced->generation > anchor.settled->generation))
    anchor.announced = std::move(announced);
  const auto synced = text.substr(2 * slot_bytes);
  if (!read(synced.substr(0, synced.find('\n')), anchor.synced)) anchor.synced = 0;
  return anchor;
}

std::string print_synced(std::uint64_t count) { return padded(fmt::format("{}\n", count)); }

bool restarted_since(const Slot& slot, std::int64_t real_ms, std::int64_t boot_ms) {
  return boot_ms < slot.boot_ms || std::abs((real_ms - boot_ms) - (slot.real_ms - slot.boot_ms)) > clock_tolerance_ms;
}

}  // namespace harn::audit
