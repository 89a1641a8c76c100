// SPDX-License-Identifier: Apache-2.0
// Policies written for other tools, read into the same Policy, with a report of every decision made
// on the way and of everything that could not be expressed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harn/policy.h"

namespace harn {

enum class Dialect : std::uint8_t {
  harness,    // .harness/config.toml, table [sandbox]
  openhuman,  // an agent file with sandbox_mode
};

std::string_view name_of(Dialect dialect);
std::optional<Dialect> dialect_named(std::string_view name);

struct DialectContext {
  AbsPath home = {};
  AbsPath project_root = {};   // relative paths start here
  std::string file_name = {};  // for error places
};

// What a file of another tool asks for. `backend` and the members after it are choices about how to
// run, which a Policy does not hold; a caller that cannot honour them must say so.
struct Imported {
  Policy policy = {};
  std::vector<std::string> notes = {};          // how a setting was read, or which default was taken
  std::vector<std::string> not_expressed = {};  // settings that have no effect here, and why
  bool enabled = true;                          // what the tool itself would do with this file
  std::string backend = "auto";                 // auto linux bubblewrap firejail docker none
  std::string docker_image = {};                // empty = the default image

  bool operator==(const Imported&) const = default;
};

// Strict about the members of the sandbox: unknown ones, wrong types and unknown words are errors.
Result<Imported> import_dialect(Dialect dialect, std::string_view toml, const DialectContext& context);

// What Harness limits when nobody says otherwise; `harn run --sandbox process` and `docker` too.
Limits harness_limits();

}  // namespace harn
