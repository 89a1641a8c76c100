// SPDX-License-Identifier: Apache-2.0
#include "run/windows/sddl.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace harn::run::windows {
namespace {

using RightWord = std::pair<std::string_view, std::uint32_t>;
constexpr std::array right_words{
    RightWord{"GA", 0x10000000}, RightWord{"GX", 0x20000000}, RightWord{"GW", 0x40000000}, RightWord{"GR", 0x80000000},
    RightWord{"RC", 0x20000},    RightWord{"SD", 0x10000},    RightWord{"WD", 0x40000},    RightWord{"WO", 0x80000},
    RightWord{"CC", 0x1},        RightWord{"DC", 0x2},        RightWord{"LC", 0x4},        RightWord{"SW", 0x8},
    RightWord{"RP", 0x10},       RightWord{"WP", 0x20},       RightWord{"DT", 0x40},       RightWord{"LO", 0x80},
    RightWord{"CR", 0x100},      RightWord{"FA", 0x1F01FF},   RightWord{"FR", 0x120089},   RightWord{"FW", 0x120116},
    RightWord{"FX", 0x1200A0},
};

using CapabilityRow = std::pair<std::string_view, std::string_view>;
constexpr std::array capabilities{
    CapabilityRow{"internetClient", "S-1-15-3-1"},
    CapabilityRow{"internetClientServer", "S-1-15-3-2"},
    CapabilityRow{"privateNetworkClientServer", "S-1-15-3-3"},
};

std::unexpected<Error> unreadable(std::string_view sddl, std::string_view why) {
  return fail(Error{.code = ErrorCode::protocol,
                    .stage = Stage::prepare,
                    .message = fmt::format("the access control list {} cannot be read: {}", base::quoted(sddl), why),
                    .hint = "look at it with icacls; Harn changes only lists it understands"});
}

// The entry that starts at text[0] == '(' up to its own closing parenthesis; empty when there is none. Conditions nest, and
// hold texts in quotes.
std::string_view take_entry(std::string_view text) {
  int depth = 0;
  bool in_quotes = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') in_quotes = !in_quotes;
    if (in_quotes) continue;
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return text.substr(0, i + 1);
  }
  return {};
}

// Between the parentheses: five semicolons, then the SID, then perhaps a condition.
std::optional<Ace> parse_ace(std::string_view inner) {
  std::array<std::string_view, 5> parts;
  for (auto& part : parts) {
    const auto end = inner.find(';');
    if (end == std::string_view::npos) return std::nullopt;
    part = inner.substr(0, end);
    inner.remove_prefix(end + 1);
  }
  const auto condition = inner.find(';');
  return Ace{.type = std::string(parts[0]),
             .flags = std::string(parts[1]),
             .rights = std::string(parts[2]),
             .objects = fmt::format("{};{}", parts[3], parts[4]),
             .sid = std::string(inner.substr(0, condition)),
             .condition = condition == std::string_view::npos ? std::string() : std::string(inner.substr(condition))};
}

void remove_flag(std::string& flags, std::string_view flag) {
  for (std::size_t i = 0; i + 1 < flags.size(); i += 2)
    if (std::string_view(flags).substr(i, 2) == flag) {
      flags.erase(i, 2);
      return;
    }
}

// What a list's own flags are, before its first entry.
bool parse_flags(std::string_view flags, Dacl& dacl) {
  while (!flags.empty()) {
    if (flags.starts_with("NO_ACCESS_CONTROL")) {
      dacl.null = true;
      flags.remove_prefix(std::string_view("NO_ACCESS_CONTROL").size());
    } else if (flags.starts_with("AR") || flags.starts_with("AI")) {
      dacl.other_flags += flags.substr(0, 2);
      flags.remove_prefix(2);
    } else if (flags.starts_with("P")) {
      dacl.is_protected = true;
      flags.remove_prefix(1);
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

bool Ace::has_flag(std::string_view flag) const {
  for (std::size_t i = 0; i + 1 < flags.size(); i += 2)
    if (std::string_view(flags).substr(i, 2) == flag) return true;
  return false;
}

bool Ace::inherited() const { return has_flag("ID"); }

std::optional<std::uint32_t> Ace::mask() const {
  std::uint32_t out = 0;
  if (rights.starts_with("0x") || rights.starts_with("0X")) {
    const auto [end, problem] = std::from_chars(rights.data() + 2, rights.data() + rights.size(), out, 16);
    return problem == std::errc{} && end == rights.data() + rights.size() ? std::optional(out) : std::nullopt;
  }
  if (rights.size() % 2 != 0) return std::nullopt;
  for (std::size_t i = 0; i < rights.size(); i += 2) {
    const auto* row = std::ranges::find(right_words, std::string_view(rights).substr(i, 2), &RightWord::first);
    if (row == right_words.end()) return std::nullopt;
    out |= row->second;
  }
  return out;
}

std::string Ace::text() const { return fmt::format("({};{};{};{};{}{})", type, flags, rights, objects, sid, condition); }

std::string Dacl::text() const {
  std::string out = fmt::format("D:{}{}{}", is_protected ? "P" : "", other_flags, null ? "NO_ACCESS_CONTROL" : "");
  for (const auto& entry : entries) out += entry.text();
  return out;
}

Result<Dacl> parse_dacl(std::string_view sddl) {
  if (!sddl.starts_with("D:")) return unreadable(sddl, "it has no part 'D:'");
  auto rest = sddl.substr(2);
  Dacl dacl;
  const auto first = std::min(rest.find('('), rest.size());
  if (!parse_flags(rest.substr(0, first), dacl)) return unreadable(sddl, "its flags are not known");
  rest.remove_prefix(first);
  while (!rest.empty()) {
    const auto entry = rest.front() == '(' ? take_entry(rest) : std::string_view();
    if (entry.empty()) return unreadable(sddl, "an entry does not end");
    auto ace = parse_ace(entry.substr(1, entry.size() - 2));
    if (!ace) return unreadable(sddl, "an entry has too few parts");
    dacl.entries.push_back(std::move(*ace));
    rest.remove_prefix(entry.size());
  }
  return dacl;
}

bool same_sid(std::string_view a, std::string_view b) {
  const auto whole = [](std::string_view sid) { return sid == "AC" ? all_packages : sid; };
  return base::lower_ascii(whole(a)) == base::lower_ascii(whole(b));
}

bool is_package_sid(std::string_view sid) {
  return base::lower_ascii(sid).starts_with("s-1-15-2-") && !same_sid(sid, all_packages) && !same_sid(sid, all_restricted_packages);
}

std::optional<std::string> capability_sid(std::string_view name) {
  const auto* row = std::ranges::find(capabilities, name, &CapabilityRow::first);
  return row == capabilities.end() ? std::nullopt : std::optional<std::string>(row->second);
}

Ace container_ace(std::string_view sid, std::uint32_t mask, bool inherit) {
  return {.type = "A", .flags = inherit ? "OICI" : "", .rights = fmt::format("{:#x}", mask), .objects = ";", .sid = std::string(sid)};
}

std::uint32_t allowed_for(const Dacl& dacl, std::string_view sid) {
  constexpr std::uint32_t everything = ~std::uint32_t{0};
  if (dacl.null) return everything;
  std::uint32_t out = 0;
  for (const auto& entry : dacl.entries) {
    const bool counts = same_sid(entry.sid, sid) || same_sid(entry.sid, all_packages);
    // What does not plainly allow is taken to: entries with conditions, for objects, or of kinds that are not known.
    const bool denies = entry.type == "D" || entry.type == "OD" || entry.type == "XD";
    if (counts && !denies && !entry.has_flag("IO")) out |= entry.mask().value_or(everything);
  }
  return out;
}

void add_entry(Dacl& dacl, Ace ace) {
  const auto at = std::ranges::find_if(dacl.entries, [](const Ace& entry) { return entry.inherited() || !entry.type.ends_with("D"); });
  dacl.entries.insert(at, std::move(ace));
}

bool remove_entries_of(Dacl& dacl, std::string_view sid) {
  return std::erase_if(dacl.entries, [&](const Ace& entry) { return !entry.inherited() && same_sid(entry.sid, sid); }) != 0;
}

std::vector<std::string> stop_inheritance(Dacl& dacl) {
  std::vector<std::string> copies;
  for (auto& entry : dacl.entries) {
    if (!entry.inherited()) continue;
    remove_flag(entry.flags, "ID");
    copies.push_back(entry.text());
  }
  dacl.is_protected = true;
  return copies;
}

void resume_inheritance(Dacl& dacl, const std::vector<std::string>& copies) {
  for (const auto& copy : copies) {
    const auto at = std::ranges::find_if(dacl.entries, [&](const Ace& entry) { return entry.text() == copy; });
    if (at != dacl.entries.end()) dacl.entries.erase(at);
  }
  dacl.is_protected = false;
}

}  // namespace harn::run::windows
