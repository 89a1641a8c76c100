// SPDX-License-Identifier: Apache-2.0
// Descriptors 0, 1 and 2 of the command, and its terminal, as steps of the inner script.
#pragma once

#include <string>

#include "run/launch.h"
#include "run/script_writer.h"

namespace harn::run {

inline constexpr int first_free_fd = 10;  // above everything the children put in a fixed place

Status write_stdio(const LaunchSettings& settings, ScriptWriter& inner);

// In a view the caller's terminal stands as /dev/console. Through the caller's own descriptor its owner
// could change its mode and open it to others; opened anew there he cannot.
void write_terminals(const LaunchSettings& settings, ScriptWriter& inner);

// Programs ask for the name of their terminal; the private devpts does not know the caller's. Empty
// without one.
std::string terminal_name(const LaunchSettings& settings);

}  // namespace harn::run
