// SPDX-License-Identifier: Apache-2.0
// What happens to sessions, in the audit log.
#pragma once

#include "cli/run_audit.h"
#include "session/record.h"

namespace harn::cli {

// Under os_hardened what is not recorded is an error, although it happened.
Status tell_audit(RunAudit& audit, AuditEventType type, const session::Record& record, const std::string& detail);

}  // namespace harn::cli
