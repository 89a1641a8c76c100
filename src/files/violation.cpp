// SPDX-License-Identifier: Apache-2.0
#include "files/violation.h"

#include <fmt/format.h>

#include "base/enum_names.h"
#include "base/text.h"
#include "policy/names.h"
#include "policy/roots_text.h"

namespace harn::files {
namespace {

Error refusal(std::string message, std::string hint) {
  return {.code = ErrorCode::refused, .stage = Stage::prepare, .message = std::move(message), .hint = std::move(hint)};
}

std::string_view verb_of(FileOp op) {
  switch (op) {
    case FileOp::write: return "write";
    case FileOp::remove: return "delete";
    default: return "read";
  }
}

bool changes(FileOp op) { return op == FileOp::write || op == FileOp::remove; }

bool has_capability(const Capabilities& capabilities, WorkspaceOp op) {
  const auto& have = capabilities.workspace;
  // Who may read or list learns what exists anyway.
  if (op == WorkspaceOp::exists && (have.contains(WorkspaceOp::read_text) || have.contains(WorkspaceOp::list))) return true;
  return have.contains(op);
}

}  // namespace

Status check_capability(const Policy& policy, const Attempt& attempt) {
  const auto needed = changes(attempt.op) ? SideEffectLevel::workspace_write : SideEffectLevel::read_only;
  const auto name = base::enum_name(attempt.needs);
  if (!has_capability(policy.effective_capabilities(), attempt.needs))
    return fail(refusal(fmt::format("sandbox violation: '{}' exceeds the capabilities: workspace lacks '{}'", attempt.operation, name),
                        fmt::format("add \"{}\" to capabilities.workspace", name)));
  if (policy.level() >= needed) return {};
  return fail(refusal(fmt::format("sandbox violation: '{}' exceeds the side effects allowed: side_effect_level is '{}'", attempt.operation,
                                  base::enum_name(policy.level())),
                      fmt::format("set side_effect_level = \"{}\"", base::enum_name(needed))));
}

Error violation(const Policy& policy, const Attempt& attempt, std::string_view asked, const AbsPath& real, const Decision& decision) {
  const auto start =
      fmt::format("sandbox violation: '{}' attempted to {} {}", attempt.operation, verb_of(attempt.op), base::quoted(real.text()));
  const auto leads = asked == real.text() ? std::string() : fmt::format("{} leads there", base::quoted(asked));
  switch (decision.origin) {
    case Origin::deny:
      return refusal(fmt::format("{}, which read_deny_roots closes at {}", start, base::quoted(decision.rule.text())), leads);
    case Origin::credential:
      return refusal(fmt::format("{}, a credential (closed at {})", start, base::quoted(decision.rule.text())), leads);
    case Origin::protected_:
      return refusal(fmt::format("{}, which is protected at {}", start, base::quoted(decision.rule.text())),
                     leads.empty() ? "the operator can open it with unprotect" : leads);
    case Origin::nothing: break;
    default: return refusal(fmt::format("{} under a read-only workspace root", start), leads);
  }
  return refusal(fmt::format("{} outside workspace_roots [{}]", start, policy::roots_text(policy)), leads);
}

Error above_protected(const Attempt& attempt, const AbsPath& real, const AbsPath& beneath) {
  return refusal(fmt::format("sandbox violation: '{}' attempted to {} {}, which holds {}", attempt.operation, verb_of(attempt.op),
                             base::quoted(real.text()), base::quoted(beneath.text())),
                 "what is closed or protected beneath a path keeps the path as it is");
}

Error makes_repository(const Attempt& attempt, const AbsPath& real) {
  return refusal(fmt::format("sandbox violation: '{}' attempted to {} {}, and git outside trusts what a repository says", attempt.operation,
                             verb_of(attempt.op), base::quoted(real.text())),
                 "let a command make it: 'git init' and 'git clone' are reported");
}

}  // namespace harn::files
