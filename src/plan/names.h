// SPDX-License-Identifier: Apache-2.0
// Wire names of the plan enums, in the order of their enumerators.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "base/enum_names.h"
#include "harn/plan.h"
#include "policy/names.h"

namespace harn::base {

template <>
struct EnumNames<Backend> {
  static constexpr std::array names{
      std::pair{Backend::linux, std::string_view("linux")},       std::pair{Backend::bubblewrap, std::string_view("bubblewrap")},
      std::pair{Backend::firejail, std::string_view("firejail")}, std::pair{Backend::docker, std::string_view("docker")},
      std::pair{Backend::podman, std::string_view("podman")},     std::pair{Backend::macos, std::string_view("macos")},
      std::pair{Backend::windows, std::string_view("windows")},   std::pair{Backend::openbsd, std::string_view("openbsd")},
      std::pair{Backend::noop, std::string_view("noop")}};
};

template <>
struct EnumNames<Dimension> {
  static constexpr std::array names{std::pair{Dimension::reads, std::string_view("reads")},
                                    std::pair{Dimension::writes, std::string_view("writes")},
                                    std::pair{Dimension::credential_reads, std::string_view("credential_reads")},
                                    std::pair{Dimension::metadata, std::string_view("metadata")},
                                    std::pair{Dimension::network, std::string_view("network")},
                                    std::pair{Dimension::unix_sockets, std::string_view("unix_sockets")},
                                    std::pair{Dimension::signals, std::string_view("signals")},
                                    std::pair{Dimension::process_inspection, std::string_view("process_inspection")},
                                    std::pair{Dimension::devices, std::string_view("devices")},
                                    std::pair{Dimension::memory, std::string_view("memory")},
                                    std::pair{Dimension::cpu, std::string_view("cpu")},
                                    std::pair{Dimension::processes, std::string_view("processes")},
                                    std::pair{Dimension::file_size, std::string_view("file_size")},
                                    std::pair{Dimension::wall_time, std::string_view("wall_time")},
                                    std::pair{Dimension::env, std::string_view("env")}};
};

template <>
struct EnumNames<Enforcement> {
  static constexpr std::array names{std::pair{Enforcement::not_requested, std::string_view("not_requested")},
                                    std::pair{Enforcement::not_enforced, std::string_view("not_enforced")},
                                    std::pair{Enforcement::degraded, std::string_view("degraded")},
                                    std::pair{Enforcement::enforced, std::string_view("enforced")}};
};

template <>
struct EnumNames<MountOp> {
  static constexpr std::array names{
      std::pair{MountOp::tmpfs, std::string_view("tmpfs")},         std::pair{MountOp::bind, std::string_view("bind")},
      std::pair{MountOp::bind_read, std::string_view("bind_read")}, std::pair{MountOp::hide, std::string_view("hide")},
      std::pair{MountOp::proc, std::string_view("proc")},           std::pair{MountOp::dev, std::string_view("dev")},
      std::pair{MountOp::symlink, std::string_view("symlink")},     std::pair{MountOp::directory, std::string_view("directory")},
      std::pair{MountOp::overlay, std::string_view("overlay")}};
};

template <>
struct EnumNames<Compare> {
  static constexpr std::array names{
      std::pair{Compare::equal, std::string_view("equal")},     std::pair{Compare::not_equal, std::string_view("not_equal")},
      std::pair{Compare::less, std::string_view("less")},       std::pair{Compare::less_equal, std::string_view("less_equal")},
      std::pair{Compare::greater, std::string_view("greater")}, std::pair{Compare::greater_equal, std::string_view("greater_equal")}};
};

template <>
struct EnumNames<SyscallAction> {
  static constexpr std::array names{
      std::pair{SyscallAction::allow, std::string_view("allow")}, std::pair{SyscallAction::errno_, std::string_view("errno")},
      std::pair{SyscallAction::kill, std::string_view("kill")}, std::pair{SyscallAction::notify, std::string_view("notify")}};
};

template <>
struct EnumNames<Route> {
  static constexpr std::array names{
      std::pair{Route::direct, std::string_view("direct")}, std::pair{Route::confined, std::string_view("confined")},
      std::pair{Route::wasi, std::string_view("wasi")}, std::pair{Route::refused, std::string_view("refused")}};
};

template <>
struct EnumNames<Fallback> {
  static constexpr std::array names{std::pair{Fallback::off, std::string_view("off")}, std::pair{Fallback::warn, std::string_view("warn")},
                                    std::pair{Fallback::enforce, std::string_view("enforce")}};
};

}  // namespace harn::base
