// SPDX-License-Identifier: Apache-2.0
// Wire names of the policy enums, in the order of their enumerators.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "base/enum_names.h"
#include "harn/policy.h"

namespace harn::base {

template <>
struct EnumNames<Profile> {
  static constexpr std::array names{
      std::pair{Profile::unrestricted, std::string_view("unrestricted")}, std::pair{Profile::worktree, std::string_view("worktree")},
      std::pair{Profile::wasi, std::string_view("wasi")}, std::pair{Profile::os_hardened, std::string_view("os_hardened")}};
};

template <>
struct EnumNames<SideEffectLevel> {
  static constexpr std::array names{std::pair{SideEffectLevel::none, std::string_view("none")},
                                    std::pair{SideEffectLevel::read_only, std::string_view("read_only")},
                                    std::pair{SideEffectLevel::workspace_write, std::string_view("workspace_write")},
                                    std::pair{SideEffectLevel::process_exec, std::string_view("process_exec")},
                                    std::pair{SideEffectLevel::network, std::string_view("network")}};
};

template <>
struct EnumNames<WorkspaceOp> {
  static constexpr std::array names{
      std::pair{WorkspaceOp::read_text, std::string_view("read_text")}, std::pair{WorkspaceOp::list, std::string_view("list")},
      std::pair{WorkspaceOp::exists, std::string_view("exists")}, std::pair{WorkspaceOp::write_text, std::string_view("write_text")},
      std::pair{WorkspaceOp::delete_, std::string_view("delete")}};
};

template <>
struct EnumNames<ProcessOp> {
  static constexpr std::array names{std::pair{ProcessOp::exec, std::string_view("exec")}};
};

template <>
struct EnumNames<Preset> {
  static constexpr std::array names{std::pair{Preset::system_runtime, std::string_view("system_runtime")},
                                    std::pair{Preset::developer_toolchains, std::string_view("developer_toolchains")},
                                    std::pair{Preset::package_manager_config, std::string_view("package_manager_config")},
                                    std::pair{Preset::user_temp, std::string_view("user_temp")}};
};

template <>
struct EnumNames<NetworkMode> {
  static constexpr std::array names{std::pair{NetworkMode::limited, std::string_view("limited")},
                                    std::pair{NetworkMode::unrestricted, std::string_view("unrestricted")}};
};

template <>
struct EnumNames<EnvMode> {
  static constexpr std::array names{std::pair{EnvMode::inherit, std::string_view("inherit")},
                                    std::pair{EnvMode::patch, std::string_view("patch")},
                                    std::pair{EnvMode::replace, std::string_view("replace")}};
};

template <>
struct EnumNames<Side> {
  static constexpr std::array names{std::pair{Side::ceiling, std::string_view("ceiling")},
                                    std::pair{Side::requested, std::string_view("requested")}};
};

template <>
struct EnumNames<Access> {
  static constexpr std::array names{std::pair{Access::none, std::string_view("none")}, std::pair{Access::read, std::string_view("read")},
                                    std::pair{Access::write, std::string_view("write")}};
};

template <>
struct EnumNames<FileOp> {
  static constexpr std::array names{std::pair{FileOp::read, std::string_view("read")}, std::pair{FileOp::list, std::string_view("list")},
                                    std::pair{FileOp::execute, std::string_view("execute")},
                                    std::pair{FileOp::write, std::string_view("write")},
                                    std::pair{FileOp::remove, std::string_view("remove")}};
};

template <>
struct EnumNames<Origin> {
  static constexpr std::array names{std::pair{Origin::nothing, std::string_view("nothing")},
                                    std::pair{Origin::workspace, std::string_view("workspace")},
                                    std::pair{Origin::read_only, std::string_view("read_only")},
                                    std::pair{Origin::process_read, std::string_view("process_read")},
                                    std::pair{Origin::process_write, std::string_view("process_write")},
                                    std::pair{Origin::deny, std::string_view("deny")},
                                    std::pair{Origin::credential, std::string_view("credential")},
                                    std::pair{Origin::exposed, std::string_view("exposed")},
                                    std::pair{Origin::protected_, std::string_view("protected")},
                                    std::pair{Origin::unprotect, std::string_view("unprotect")},
                                    std::pair{Origin::preset, std::string_view("preset")},
                                    std::pair{Origin::search_path, std::string_view("search_path")},
                                    std::pair{Origin::device, std::string_view("device")},
                                    std::pair{Origin::git, std::string_view("git")}};
};

template <>
struct EnumNames<Platform> {
  static constexpr std::array names{
      std::pair{Platform::linux, std::string_view("linux")}, std::pair{Platform::macos, std::string_view("macos")},
      std::pair{Platform::windows, std::string_view("windows")}, std::pair{Platform::openbsd, std::string_view("openbsd")}};
};

template <>
struct EnumNames<CgroupKind> {
  static constexpr std::array names{std::pair{CgroupKind::none, std::string_view("none")},
                                    std::pair{CgroupKind::v1, std::string_view("v1")}, std::pair{CgroupKind::v2, std::string_view("v2")}};
};

template <>
struct EnumNames<PathKind> {
  static constexpr std::array names{
      std::pair{PathKind::missing, std::string_view("missing")}, std::pair{PathKind::directory, std::string_view("directory")},
      std::pair{PathKind::file, std::string_view("file")},       std::pair{PathKind::device, std::string_view("device")},
      std::pair{PathKind::socket, std::string_view("socket")},   std::pair{PathKind::other, std::string_view("other")}};
};

}  // namespace harn::base
