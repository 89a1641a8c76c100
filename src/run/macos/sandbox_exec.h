// SPDX-License-Identifier: Apache-2.0
// The program that applies a profile, and what its exit codes say. Where it stands is not to be chosen by anybody:
// a variable that names another one would be a way out.
#pragma once

#include <string>

namespace harn::run {

const std::string& sandbox_exec_program();

// When it could not execute the command, and when it did not understand the profile (sysexits.h).
inline constexpr int command_not_executed = 71;
inline constexpr int profile_not_understood = 65;

}  // namespace harn::run
