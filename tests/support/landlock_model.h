// SPDX-License-Identifier: Apache-2.0
// What a Landlock ruleset allows, worked out from the kernel's documentation: a right that is not
// handled is allowed; a handled one is allowed where a rule at or above the object carries it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harn/plan.h"

namespace harn::test {

bool landlock_allows(const LandlockPlan& plan, const AbsPath& path, FileOp op);

// A single right by its kernel name, on the object itself.
bool landlock_grants(const LandlockPlan& plan, const AbsPath& path, std::string_view right);

// TCP: whether a port may be bound ("bind_tcp") or connected to ("connect_tcp").
bool landlock_allows_port(const LandlockPlan& plan, std::uint16_t port, std::string_view right);

// Everything the kernel would reject with EINVAL: unknown or unhandled rights, rights newer than the
// ABI, directory rights on a file, empty rules.
std::vector<std::string> landlock_faults(const LandlockPlan& plan, const HostFacts& facts);

}  // namespace harn::test
