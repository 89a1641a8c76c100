// SPDX-License-Identifier: Apache-2.0
#include "capi/answers.h"

#include <cstring>

#include "base/json.h"
#include "embed/error_json.h"
#include "embed/places.h"

namespace harn::capi {

const char* const out_of_memory =
    R"({"error": {"code": "internal", "category": "internal", "stage": "load", "message": "no memory is left",)"
    R"( "hint": "", "where": ""}})";

char* handed_over(std::string_view text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) return nullptr;
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return copy;
}

std::string error_text(const Error& error) {
  base::Value out;
  out.set("error", embed::error_value(error));
  return base::print_json(out);
}

Error thrown(const char* what) {
  return {.code = ErrorCode::internal, .stage = Stage::load, .message = std::string("the library failed: ") + what};
}

Error no_object() {
  return {.code = ErrorCode::protocol, .stage = Stage::load, .message = "the object is NULL", .hint = "open or create it first"};
}

OutputSink sink_for(harn_output output, void* user) {
  if (output == nullptr) return {};
  return [output, user](Output which, std::string_view bytes) { output(user, which == Output::out ? 1 : 2, bytes.data(), bytes.size()); };
}

std::unique_ptr<AuditLog> log_for(std::optional<AuditMode> asked, Profile profile, Context& context) {
  const auto mode = asked.value_or(profile == Profile::os_hardened ? AuditMode::power : AuditMode::process);
  if (mode == AuditMode::off) return nullptr;
  auto log = AuditLog::open({.directory = embed::audit_directory(context.environment), .session_id = make_run_id(), .durability = mode});
  context.audit = log.get();
  return log;
}

}  // namespace harn::capi
