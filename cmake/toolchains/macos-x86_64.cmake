# SPDX-License-Identifier: Apache-2.0
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_INSTALL_NAME_TOOL true)  # nothing is installed from such a build
set(CMAKE_OSX_SYSROOT "" CACHE STRING "zig has the headers")
set(HARN_ZIG_TARGET x86_64-macos.13.0)
set(HARN_CLANG_TARGET x86_64-apple-macosx13.0.0)
set(HARN_SYSTEM_HEADERS any-darwin-any)
include(${CMAKE_CURRENT_LIST_DIR}/zig.cmake)
