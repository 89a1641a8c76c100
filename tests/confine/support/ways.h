// SPDX-License-Identifier: Apache-2.0
// The ways of confining that one test program tries. Two programs share the tables: the host's own ways, and
// containers of an engine that only tests/containers starts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "confine/support/stand.h"

namespace harn::confine {

// Every way this machine and this user allow.
std::vector<Stand> stands();

// What this host lacks for it; empty = nothing. HARN_REQUIRE makes it a failure.
std::string missing_here(Way way);

// For --backend.
std::string backend_of(Way way);

// Variables the launcher needs besides; what is there already stays.
void add_environment(Way way, std::map<std::string, std::string>& environment);

}  // namespace harn::confine
