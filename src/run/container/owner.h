// SPDX-License-Identifier: Apache-2.0
// Whose container it is: a label that outlives its owner and tells whether that one is still there.
#pragma once

#include <string>
#include <string_view>

namespace harn::run {

// This process: machine, boot, user, pid namespace, pid and when it started.
std::string owner_label();

// Of a container that nobody has to stay beside: who made it keeps a record.
inline constexpr std::string_view session_owner = "session";

// Certainly of this user on this machine, and certainly gone. Whatever cannot be told is not.
bool owner_is_gone(std::string_view label);

}  // namespace harn::run
