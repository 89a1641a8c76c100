// SPDX-License-Identifier: Apache-2.0
// When a new file begins, and which old ones go.
#pragma once

#include "audit/anchor.h"
#include "audit/files.h"
#include "harn/audit.h"

namespace harn::audit {

bool begins_new_file(const Slot& slot, const AuditSettings& settings, std::int64_t now_ms);

// Those that go, oldest first: always a beginning of the list. The newest file is not in it yet.
std::vector<Segment> surplus(const std::vector<Segment>& segments, const AuditSettings& settings, std::int64_t now_ms);

// The event that says so; `slot` begins behind what goes. Nothing when nothing goes.
struct Pruning {
  std::optional<AuditEvent> event = {};
  std::vector<Segment> segments = {};  // to be removed once the event stands in the log
};
Result<Pruning> plan_pruning(const AbsPath& directory, const AuditSettings& settings, std::int64_t now_ms, Slot& slot);

}  // namespace harn::audit
