// SPDX-License-Identifier: Apache-2.0
// What has to be asked differently on every system; the folder of the system answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harn/probe.h"

namespace harn::host {

// The platform, its version where the request wants it, and what it has to confine with.
void add_system_facts(const ProbeRequest& request, HostFacts& facts);

// Of the account, whatever HOME says.
std::optional<AbsPath> account_home(std::uint32_t uid);

// Another one after every start of the machine; nothing where that cannot be told.
std::optional<std::string> boot_name();

}  // namespace harn::host
