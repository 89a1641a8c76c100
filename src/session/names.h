// SPDX-License-Identifier: Apache-2.0
// Wire names of sessions.
#pragma once

#include "base/enum_names.h"
#include "harn/session.h"

namespace harn::base {

template <>
struct EnumNames<FilesystemAccess> {
  static constexpr std::array names{std::pair{FilesystemAccess::read_only, std::string_view("read_only")},
                                    std::pair{FilesystemAccess::read_write, std::string_view("read_write")}};
};

template <>
struct EnumNames<SandboxState> {
  static constexpr std::array names{std::pair{SandboxState::provisioned, std::string_view("provisioned")},
                                    std::pair{SandboxState::running, std::string_view("running")},
                                    std::pair{SandboxState::suspended, std::string_view("suspended")},
                                    std::pair{SandboxState::terminated, std::string_view("terminated")}};
};

template <>
struct EnumNames<SandboxErrorKind> {
  using K = SandboxErrorKind;
  static constexpr std::array names{std::pair{K::session_not_found, std::string_view("session_not_found")},
                                    std::pair{K::unsupported, std::string_view("unsupported")},
                                    std::pair{K::invalid_request, std::string_view("invalid_request")},
                                    std::pair{K::lifecycle, std::string_view("lifecycle")},
                                    std::pair{K::exec, std::string_view("exec")},
                                    std::pair{K::network_policy, std::string_view("network_policy")},
                                    std::pair{K::io, std::string_view("io")},
                                    std::pair{K::json, std::string_view("json")},
                                    std::pair{K::task, std::string_view("task")}};
};

}  // namespace harn::base
