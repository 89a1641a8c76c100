// SPDX-License-Identifier: Apache-2.0
// A SandboxPolicy as the table [sandbox] and back, so that there is one reader of it and one meaning,
// whether it was written in a file or in a program.
#pragma once

#include "base/value.h"
#include "harn/executor.h"

namespace harn::harness {

base::Value table_of(const SandboxPolicy& policy);
// Of a table that the dialect's reader accepted.
SandboxConfig config_of(const base::Value& table);

std::string_view name_of(SandboxMode mode);

}  // namespace harn::harness
