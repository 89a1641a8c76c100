// SPDX-License-Identifier: Apache-2.0
// How every fallible call in Harn answers: a value, or an Error that says what happened, to which
// value, and what to do. Harn never throws; a Result that is ignored does not compile.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace harn {

// Closed and small on purpose: callers branch on these, people read `message`.
enum class ErrorCode : std::uint8_t {
  invalid_policy,   // the policy text or value is wrong
  invalid_command,  // the command, its arguments or its working directory are wrong
  not_supported,    // this backend cannot express what was asked
  not_available,    // this host lacks what was asked
  refused,          // a ceiling or a coverage gate said no
  os,               // a system call failed
  io,               // a file could not be read or written
  protocol,         // a peer or a stored record broke its format
  internal,         // a bug in Harn
};

// Where in the life of one command the error arose.
enum class Stage : std::uint8_t {
  load,
  parse,
  compose,
  plan,
  prepare,
  spawn,
  supervise,
  audit,
  cli
};

struct Error {
  ErrorCode code = ErrorCode::internal;
  Stage stage = Stage::load;
  int os_error = 0;          // errno, 0 when none
  std::string message = {};  // one sentence, the offending value quoted
  std::string hint = {};     // one sentence: what to do; may be empty
  std::string where = {};    // "policy.toml:3:14" or "/network/mode"; empty when it has no place

  bool operator==(const Error&) const = default;
};

std::string_view name_of(ErrorCode code);
std::string_view name_of(Stage stage);

// How a host sorts what a tool answered: "tool_rejected" where policy or coverage said no, the code's own
// name otherwise.
std::string_view category_of(const Error& error);

// `where: message (hint)` on one line, for people.
std::string describe(const Error& error);

// std::expected does not warn when it is ignored; this does.
template <class T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
};

inline std::unexpected<Error> fail(Error error) { return std::unexpected<Error>(std::move(error)); }

using Status = Result<void>;

}  // namespace harn

// Propagation without statement expressions, so that -Wpedantic stays on.
#define HARN_CONCAT_INNER(a, b) a##b
#define HARN_CONCAT(a, b) HARN_CONCAT_INNER(a, b)

// HARN_TRY(name, expr): declares `name` with the value of `expr`, or returns its error.
#define HARN_TRY(name, expr)                                                                                       \
  auto HARN_CONCAT(harn_try_, __LINE__) = (expr);                                                                  \
  if (!HARN_CONCAT(harn_try_, __LINE__)) return ::harn::fail(std::move(HARN_CONCAT(harn_try_, __LINE__)).error()); \
  auto name = std::move(*HARN_CONCAT(harn_try_, __LINE__))

// HARN_OK(expr): returns the error of `expr`, if any.
#define HARN_OK(expr)                                                                        \
  do {                                                                                       \
    if (auto harn_ok_ = (expr); !harn_ok_) return ::harn::fail(std::move(harn_ok_).error()); \
  } while (false)
