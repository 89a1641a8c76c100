# SPDX-License-Identifier: Apache-2.0
set(CMAKE_SYSTEM_NAME OpenBSD)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(HARN_ZIG_TARGET x86_64-openbsd)
set(HARN_CLANG_TARGET x86_64-unknown-openbsd7.8)
set(HARN_SYSTEM_HEADERS x86_64-openbsd-none generic-openbsd)
set(HARN_SYSTEM_DEFINES "-D___OpenBSD=202510 -DOpenBSD7_8")
include(${CMAKE_CURRENT_LIST_DIR}/zig.cmake)
