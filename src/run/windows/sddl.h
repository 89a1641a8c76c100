// SPDX-License-Identifier: Apache-2.0
// Access control lists as the text Windows writes them in (SDDL), so that they can be read, changed and tested anywhere. An
// entry that is not understood is carried along unchanged; nothing of it is interpreted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harn/result.h"

namespace harn::run::windows {

// One entry: (type;flags;rights;object;inherited object;sid), and a condition where there is one.
struct Ace {
  std::string type = {};   // "A" allows, "D" denies
  std::string flags = {};  // "OI" "CI" "ID" …
  std::string rights = {};
  std::string objects = {};  // "object;inherited object", mostly ";"
  std::string sid = {};
  std::string condition = {};  // with its semicolon

  bool inherited() const;
  bool has_flag(std::string_view flag) const;
  std::optional<std::uint32_t> mask() const;  // unset: rights in words that are not known here
  std::string text() const;
  bool operator==(const Ace&) const = default;
};

struct Dacl {
  bool null = false;             // there is no list: everybody may do everything
  bool is_protected = false;     // nothing comes from the parent
  std::string other_flags = {};  // "AR" "AI"
  std::vector<Ace> entries = {};

  std::string text() const;
  bool operator==(const Dacl&) const = default;
};

Result<Dacl> parse_dacl(std::string_view sddl);

inline constexpr std::uint32_t read_and_execute = 0x001200A9;
inline constexpr std::uint32_t modify = 0x001301BF;

// Every AppContainer, and those with few privileges: whatever admits them admits ours.
inline constexpr std::string_view all_packages = "S-1-15-2-1";
inline constexpr std::string_view all_restricted_packages = "S-1-15-2-2";
bool same_sid(std::string_view a, std::string_view b);  // AC is S-1-15-2-1
bool is_package_sid(std::string_view sid);              // S-1-15-2-… with more parts: one container

// The well-known SID of a capability; nothing for a name that is not known.
std::optional<std::string> capability_sid(std::string_view name);

Ace container_ace(std::string_view sid, std::uint32_t mask, bool inherit);

// What the entries of `sid` here, and those of every container, allow; entries that only wait to be inherited do not count.
std::uint32_t allowed_for(const Dacl& dacl, std::string_view sid);

void add_entry(Dacl& dacl, Ace ace);  // in canonical order: after denials, before what is inherited
// True where something was removed.
bool remove_entries_of(Dacl& dacl, std::string_view sid);

// Stops inheritance: what is inherited now becomes the object's own, so that nobody else loses access. Returns those copies.
std::vector<std::string> stop_inheritance(Dacl& dacl);
// Undoes that: the copies go, and what the parent hands down counts again.
void resume_inheritance(Dacl& dacl, const std::vector<std::string>& copies);

}  // namespace harn::run::windows
