// SPDX-License-Identifier: Apache-2.0
// Names and one-line wording of errors.
#include "harn/result.h"

#include <array>

#include "base/enum_names.h"

namespace harn {

namespace base {

template <>
struct EnumNames<ErrorCode> {
  static constexpr std::array names{std::pair{ErrorCode::invalid_policy, std::string_view("invalid_policy")},
                                    std::pair{ErrorCode::invalid_command, std::string_view("invalid_command")},
                                    std::pair{ErrorCode::not_supported, std::string_view("not_supported")},
                                    std::pair{ErrorCode::not_available, std::string_view("not_available")},
                                    std::pair{ErrorCode::refused, std::string_view("refused")},
                                    std::pair{ErrorCode::os, std::string_view("os")},
                                    std::pair{ErrorCode::io, std::string_view("io")},
                                    std::pair{ErrorCode::protocol, std::string_view("protocol")},
                                    std::pair{ErrorCode::internal, std::string_view("internal")}};
};

template <>
struct EnumNames<Stage> {
  static constexpr std::array names{std::pair{Stage::load, std::string_view("load")},
                                    std::pair{Stage::parse, std::string_view("parse")},
                                    std::pair{Stage::compose, std::string_view("compose")},
                                    std::pair{Stage::plan, std::string_view("plan")},
                                    std::pair{Stage::prepare, std::string_view("prepare")},
                                    std::pair{Stage::spawn, std::string_view("spawn")},
                                    std::pair{Stage::supervise, std::string_view("supervise")},
                                    std::pair{Stage::audit, std::string_view("audit")},
                                    std::pair{Stage::cli, std::string_view("cli")}};
};

}  // namespace base

std::string_view name_of(ErrorCode code) { return base::enum_name(code); }
std::string_view name_of(Stage stage) { return base::enum_name(stage); }

std::string_view category_of(const Error& error) { return error.code == ErrorCode::refused ? "tool_rejected" : name_of(error.code); }

std::string describe(const Error& error) {
  std::string line;
  if (!error.where.empty()) line += error.where + ": ";
  line += error.message;
  if (!error.hint.empty()) line += " (" + error.hint + ")";
  return line;
}

}  // namespace harn
