// SPDX-License-Identifier: Apache-2.0
// How code of ours makes events: data as a value, words without secrets.
#pragma once

#include <string>
#include <vector>

#include "base/value.h"
#include "harn/audit.h"

namespace harn::audit {

AuditEvent make_event(AuditEventType type, const base::Value& data);

base::Array redacted_list(const std::vector<std::string>& texts);

}  // namespace harn::audit
