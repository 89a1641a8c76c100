# SPDX-License-Identifier: Apache-2.0
add_library(harn_sanitizers INTERFACE)
if(HARN_SANITIZE)
  target_compile_options(harn_sanitizers INTERFACE
    -fsanitize=${HARN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(harn_sanitizers INTERFACE -fsanitize=${HARN_SANITIZE})
endif()
# Without this the libraries under test report no edges and the fuzzer searches blindly.
if(HARN_FUZZ)
  target_compile_options(harn_sanitizers INTERFACE -fsanitize=fuzzer-no-link)
endif()
# The folder is compiled in, because scenarios start harn with an environment of their own; %2m merges
# the runs of each program, two at a time.
if(HARN_COVERAGE)
  target_compile_options(harn_sanitizers INTERFACE
    -fprofile-instr-generate=${CMAKE_BINARY_DIR}/profiles/%2m.profraw -fcoverage-mapping)
  target_link_options(harn_sanitizers INTERFACE -fprofile-instr-generate)
endif()
