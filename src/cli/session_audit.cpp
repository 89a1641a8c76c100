// SPDX-License-Identifier: Apache-2.0
#include "cli/session_audit.h"

#include "audit/event.h"
#include "policy/names.h"

namespace harn::cli {

Status tell_audit(RunAudit& audit, AuditEventType type, const session::Record& record, const std::string& detail) {
  const auto profile = base::enum_value<Profile>(record.profile).value_or(Profile::os_hardened);
  audit.use_profile(profile);
  if (audit.is_off()) return {};
  base::Value data;
  data.set("session", record.id);
  data.set("backend", record.backend);
  data.set("profile", record.profile);
  data.set("plan_digest", record.plan_digest);
  if (!detail.empty()) data.set("detail", redacted_text(detail));
  const AuditEvent events[] = {audit::make_event(type, data)};
  auto kept = audit.append(events);
  return profile == Profile::os_hardened ? kept : Status();
}

}  // namespace harn::cli
