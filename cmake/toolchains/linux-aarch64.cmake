# SPDX-License-Identifier: Apache-2.0
# Linux on ARM, with Debian's libraries for it; tools/targets unpacks the one that is not part of its cross packages.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_CXX_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_CXX_COMPILER_WORKS ON)  # tried by building harn
set(CMAKE_EXE_LINKER_FLAGS_INIT -fuse-ld=lld-19)
set(HARN_SODIUM $ENV{HARN_ARM64}/usr/lib/aarch64-linux-gnu/libsodium.a CACHE FILEPATH "")
set(CMAKE_CXX_STANDARD_INCLUDE_DIRECTORIES $ENV{HARN_ARM64}/usr/include)
