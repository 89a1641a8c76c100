// SPDX-License-Identifier: Apache-2.0
// Making session errors out of what happened.
#pragma once

#include "harn/session.h"

namespace harn::session {

using Kind = SandboxErrorKind;

std::unexpected<SandboxError> fail_with(Kind kind, std::string detail, std::string hint = {}, int os_error = 0);
std::unexpected<SandboxError> not_found(std::string id, std::string hint = {});
// Its record is there, and nobody answers for it.
std::unexpected<SandboxError> gone(std::string id);
std::unexpected<SandboxError> unsupported(std::string_view backend, std::string operation, std::string hint = {});
// An error of the layers below, as `kind`; what they call a mistake of the caller's stays one.
SandboxError from(Error error, Kind kind);

}  // namespace harn::session

// As HARN_TRY and HARN_OK, from one kind of error to the other.
#define HARN_SESSION_TRY(name, expr, kind)                                                                                              \
  auto HARN_CONCAT(harn_try_, __LINE__) = (expr);                                                                                       \
  if (!HARN_CONCAT(harn_try_, __LINE__))                                                                                                \
    return std::unexpected(::harn::session::from(std::move(HARN_CONCAT(harn_try_, __LINE__)).error(), ::harn::SandboxErrorKind::kind)); \
  auto name = std::move(*HARN_CONCAT(harn_try_, __LINE__))

#define HARN_SESSION_OK(expr, kind)                                                                               \
  do {                                                                                                            \
    if (auto harn_ok_ = (expr); !harn_ok_)                                                                        \
      return std::unexpected(::harn::session::from(std::move(harn_ok_).error(), ::harn::SandboxErrorKind::kind)); \
  } while (false)

// Both sides speak of sessions.
#define HARN_SESSION_TAKE(name, expr)                                                                                 \
  auto HARN_CONCAT(harn_try_, __LINE__) = (expr);                                                                     \
  if (!HARN_CONCAT(harn_try_, __LINE__)) return std::unexpected(std::move(HARN_CONCAT(harn_try_, __LINE__)).error()); \
  auto name = std::move(*HARN_CONCAT(harn_try_, __LINE__))

#define HARN_SESSION_PASS(expr)                                                                 \
  do {                                                                                          \
    if (auto harn_ok_ = (expr); !harn_ok_) return std::unexpected(std::move(harn_ok_).error()); \
  } while (false)
