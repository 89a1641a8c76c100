// SPDX-License-Identifier: Apache-2.0
// Programs that run WebAssembly modules with WASI, as data: how each is told about directories, variables and the module. A new
// runtime is a row.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace harn::plan {

struct WasiRuntime {
  std::string_view name = {};
  std::string_view program = {};                            // file name
  std::span<const std::string_view> options = {};           // before everything else
  std::span<const std::string_view> preopen = {};           // words with {guest} and {host}
  std::span<const std::string_view> read_only = {};         // the same where the module may only read; empty = it cannot be said
  std::span<const std::string_view> variable = {};          // words with {name} and {value}
  std::span<const std::string_view> before_arguments = {};  // between the module and its words
  std::string_view separator = {};                          // a directory with this in its name would be read as two
  bool boundary = true;                                     // it keeps a module in its directories; else only the sandbox around it does
  bool described = false;                                   // one JSON word tells everything, and variables come with a prefix
};

// In the order in which they are looked for: those that are a boundary of their own come first.
std::span<const WasiRuntime> wasi_runtimes();

inline constexpr std::string_view guest_prefix = "GUEST_";

}  // namespace harn::plan
