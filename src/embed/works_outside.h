// SPDX-License-Identifier: Apache-2.0
// The control of every explanation: would this have worked without the boundary? What fails for reasons of
// its own — nothing is there, mode bits, a file system that is read-only — is nobody's refusal.
#pragma once

#include <cstdint>
#include <string>

#include "harn/outcome.h"
#include "harn/path.h"

namespace harn::embed {

// For this user without privileges: that is what a command is. Nothing is opened or changed.
bool works_outside(const AbsPath& path, Wanted wanted);

// Somebody on this host listens at a TCP port of the loopback, or at an abstract socket.
bool listens_on_loopback(std::uint16_t port);
bool listens_abstractly(const std::string& name);

}  // namespace harn::embed
