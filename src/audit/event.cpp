// SPDX-License-Identifier: Apache-2.0
#include "audit/event.h"

#include "base/json.h"

namespace harn::audit {

AuditEvent make_event(AuditEventType type, const base::Value& data) {
  return {.type = type, .data = base::canonical_json(data), .canonical = true};
}

base::Array redacted_list(const std::vector<std::string>& texts) {
  base::Array out;
  for (const auto& text : texts) out.emplace_back(redacted_text(text));
  return out;
}

}  // namespace harn::audit
