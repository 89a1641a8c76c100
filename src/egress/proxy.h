// SPDX-License-Identifier: Apache-2.0
// A relay that is nothing but a proxy, for systems where a command cannot be given a network of its own.
#pragma once

#include <string>
#include <vector>

#include "egress/settings.h"
#include "sys/unique_fd.h"

namespace harn::egress {

// Serves HTTP CONNECT and SOCKS5 on the listener until the other end of `lifeline` (borrowed) is closed; then what
// happened, line by line, as Ledger::lines() has it. Without a word where the rules are none or nothing can be waited for.
std::vector<std::string> serve_proxy(RelaySettings settings, sys::UniqueFd listener, int lifeline);

}  // namespace harn::egress
