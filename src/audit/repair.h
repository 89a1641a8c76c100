// SPDX-License-Identifier: Apache-2.0
// What to do when a log does not end where its anchor says. A writer that died left a part of what it had
// announced; a machine that went down may have lost the last writes of either file. Everything else is
// no accident, and nothing is written to such a log any more.
#pragma once

#include "audit/anchor.h"
#include "harn/audit.h"

namespace harn::audit {

struct Repaired {
  Slot base = {};                        // what the log is now
  std::optional<AuditEvent> event = {};  // what was done; unset = nothing had to be
};

// The caller holds the lock. `restarted` = the machine was started again since the anchor was written.
Result<Repaired> repair(const AbsPath& directory, const Anchor& anchor, bool restarted);

// What events about the log itself say: where it begins, and which key seals it.
void note_own_event(const AuditRecord& record, Slot& slot);

std::unexpected<Error> mismatch(const AbsPath& directory, std::string_view detail);

}  // namespace harn::audit
