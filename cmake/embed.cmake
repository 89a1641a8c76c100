# SPDX-License-Identifier: Apache-2.0
# harn_embed(OUTPUT header.h GENERATOR script INPUTS files…): runs tools/<script> at build time to
# turn data files into constexpr tables. Nothing is parsed at run time.
find_program(HARN_PYTHON NAMES /usr/bin/python3 python3 REQUIRED)
function(harn_embed)
  cmake_parse_arguments(E "" "OUTPUT;GENERATOR" "INPUTS" ${ARGN})
  set(out ${CMAKE_BINARY_DIR}/generated/${E_OUTPUT})
  add_custom_command(OUTPUT ${out}
    COMMAND ${HARN_PYTHON} ${PROJECT_SOURCE_DIR}/tools/${E_GENERATOR} ${out} ${E_INPUTS}
    DEPENDS ${E_INPUTS} ${PROJECT_SOURCE_DIR}/tools/${E_GENERATOR} VERBATIM)
  target_sources(harn_assets INTERFACE ${out})
  set_property(GLOBAL APPEND PROPERTY HARN_GENERATED ${out})
endfunction()
