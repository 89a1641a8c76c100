# SPDX-License-Identifier: Apache-2.0
# One interface target carries the warnings every file of ours is compiled with.
add_library(harn_warnings INTERFACE)
target_compile_options(harn_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast -Wnon-virtual-dtor)
# GCC 12 takes an engaged std::optional of a set for uninitialised memory once it inlines.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(harn_warnings INTERFACE -Wno-maybe-uninitialized)
endif()
# At -O3 GCC 12 also sees endless copies where std::string is built from literals (PR 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(harn_warnings INTERFACE -Wno-stringop-overflow -Wno-array-bounds -Wno-restrict -Wno-stringop-overread)
endif()
if(HARN_WERROR)
  target_compile_options(harn_warnings INTERFACE -Werror)
endif()

# Hardening of every build; the release preset adds optimisation and static linking.
add_library(harn_hardening INTERFACE)
target_compile_options(harn_hardening INTERFACE -fstack-protector-strong -D_GLIBCXX_ASSERTIONS)
if(CMAKE_EXECUTABLE_FORMAT STREQUAL "ELF")
  target_link_options(harn_hardening INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
elseif(WIN32)
  target_link_options(harn_hardening INTERFACE -Wl,--dynamicbase,--nxcompat,--high-entropy-va)
  target_link_libraries(harn_hardening INTERFACE ssp)  # what the stack protector calls
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT HARN_SANITIZE)
  target_compile_options(harn_hardening INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif()
