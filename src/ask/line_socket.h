// SPDX-License-Identifier: Apache-2.0
// An operator who listens at a Unix socket. Harn goes there, and not the other way round: what a command could reach
// there it could only ask, never answer.
#pragma once

#include "ask/channel.h"
#include "ask/wire.h"
#include "harn/path.h"
#include "harn/result.h"

namespace harn::ask {

Result<Channel> connect_operator(const AbsPath& socket, const Hello& hello);

}  // namespace harn::ask
