// SPDX-License-Identifier: Apache-2.0
#include "session/errors.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "session/names.h"

namespace harn {
namespace session {

std::unexpected<SandboxError> fail_with(Kind kind, std::string detail, std::string hint, int os_error) {
  return std::unexpected(SandboxError{.kind = kind, .detail = std::move(detail), .hint = std::move(hint), .os_error = os_error});
}

std::unexpected<SandboxError> not_found(std::string id, std::string hint) {
  return fail_with(Kind::session_not_found, std::move(id), hint.empty() ? "'harn session list' shows those there are" : std::move(hint));
}

std::unexpected<SandboxError> gone(std::string id) {
  return not_found(std::move(id), "its keeper or container is gone: 'harn session gc' clears away what is left");
}

std::unexpected<SandboxError> unsupported(std::string_view backend, std::string operation, std::string hint) {
  return std::unexpected(
      SandboxError{.kind = Kind::unsupported, .detail = std::move(operation), .backend = std::string(backend), .hint = std::move(hint)});
}

SandboxError from(Error error, Kind kind) {
  if (error.code == ErrorCode::invalid_policy) kind = Kind::invalid_request;
  return {.kind = kind, .detail = std::move(error.message), .hint = std::move(error.hint), .os_error = error.os_error};
}

}  // namespace session

std::string describe(const SandboxError& error) {
  switch (error.kind) {
    case SandboxErrorKind::session_not_found: return fmt::format("sandbox session `{}` was not found", base::one_line(error.detail));
    case SandboxErrorKind::unsupported: return fmt::format("backend `{}` does not support {}", error.backend, error.detail);
    case SandboxErrorKind::invalid_request: return "sandbox request was invalid: " + error.detail;
    case SandboxErrorKind::lifecycle: return "sandbox lifecycle operation failed: " + error.detail;
    case SandboxErrorKind::exec: return "sandbox exec failed: " + error.detail;
    case SandboxErrorKind::network_policy: return "sandbox network policy failed: " + error.detail;
    case SandboxErrorKind::io: return "sandbox I/O failed: " + error.detail;
    case SandboxErrorKind::json: return "sandbox JSON failed: " + error.detail;
    case SandboxErrorKind::task: return "sandbox task failed: " + error.detail;
  }
  return error.detail;
}

std::string sandbox_error_to_json(const SandboxError& error) {
  base::Value out;
  out.set("kind", base::enum_name(error.kind));
  out.set("detail", error.detail);
  if (!error.backend.empty()) out.set("backend", error.backend);
  out.set("message", describe(error));
  if (!error.hint.empty()) out.set("hint", error.hint);
  return base::print_json(out);
}

}  // namespace harn
