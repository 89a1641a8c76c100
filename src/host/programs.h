// SPDX-License-Identifier: Apache-2.0
// The programs wrapper backends need.
#pragma once

#include <map>
#include <span>
#include <string>

#include "harn/host.h"

namespace harn::host {

// Where programs are looked for: never through PATH, which the confined side may have influenced.
std::span<const std::string_view> program_directories();

// Every known tool that is present, by backend name. `works` means present and executable.
std::map<std::string, Tool> find_programs(std::span<const std::string_view> directories = program_directories());

}  // namespace harn::host
