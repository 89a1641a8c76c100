// SPDX-License-Identifier: Apache-2.0
// Unix sockets that hand out the host: whoever may connect can start a process outside the sandbox.
// A policy must say so beside the path before any backend lets a command reach one.
#pragma once

#include <string_view>

#include "harn/policy.h"

namespace harn::plan {

// What connecting to this socket gives away ("the Docker daemon"); empty when nothing known does.
std::string_view danger_of(const AbsPath& socket);

// invalid_policy for the first socket, in path order, that is dangerous and not allowed as such.
Status refuse_dangerous_sockets(const Policy& policy);

}  // namespace harn::plan
