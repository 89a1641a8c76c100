# SPDX-License-Identifier: Apache-2.0
# harn_layer(NAME base SOURCES … [HEADERS …] [TESTS …] [USES …] [PRIVATE_USES …])
# One static library per layer; it links only what its row in docs/architecture.md allows, so a
# forbidden include does not link. Tests stand beside the code and become one executable per layer.
# Parsing the standard library and GoogleTest again for every file is most of a build. The tidy and
# fuzz builds go without, so a missing include still shows.
function(harn_precompile TARGET)
  # Where only the program is built, one precompiled header serves every layer.
  set(program_only ${CMAKE_CROSSCOMPILING})
  if(HARN_TESTS)
    set(program_only OFF)
  endif()
  if(HARN_PCH AND program_only AND NOT "${TARGET}" STREQUAL "harn_base")
    target_precompile_headers(${TARGET} REUSE_FROM harn_base)
  elseif(HARN_PCH AND program_only)
    target_precompile_headers(${TARGET} PRIVATE <algorithm> <chrono> <functional> <memory> <ranges> <span> <fmt/format.h> "${PROJECT_SOURCE_DIR}/include/harn/plan.h")
  elseif(HARN_PCH)
    target_precompile_headers(${TARGET} PRIVATE <algorithm> <map> <optional> <set> <string> <variant> <vector> <expected> ${ARGN})
  endif()
endfunction()

function(harn_layer)
  cmake_parse_arguments(L "" "NAME" "SOURCES;HEADERS;TESTS;USES;PRIVATE_USES;TEST_USES" ${ARGN})
  add_library(harn_${L_NAME} STATIC ${L_SOURCES})
  target_include_directories(harn_${L_NAME} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(harn_${L_NAME}
    PUBLIC ${L_USES}
    PRIVATE ${L_PRIVATE_USES} harn_warnings harn_hardening harn_sanitizers)
  harn_precompile(harn_${L_NAME} <fmt/format.h>)
  if(L_HEADERS)
    target_sources(harn_${L_NAME} PUBLIC FILE_SET HEADERS
      BASE_DIRS ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src FILES ${L_HEADERS})
  endif()
  if(HARN_TESTS AND L_TESTS)
    add_executable(harn_${L_NAME}_test ${L_TESTS})
    target_include_directories(harn_${L_NAME}_test PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(harn_${L_NAME}_test PRIVATE harn_${L_NAME} ${L_TEST_USES} ${L_PRIVATE_USES}
      GTest::gtest_main harn_warnings harn_sanitizers)
    harn_precompile(harn_${L_NAME}_test <gtest/gtest.h>)
    target_compile_definitions(harn_${L_NAME}_test PRIVATE HARN_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    if(CMAKE_CROSSCOMPILING)
      add_test(NAME ${L_NAME} COMMAND harn_${L_NAME}_test --gtest_brief=1)  # asking an emulated program for its tests costs more than running them
    else()
      gtest_discover_tests(harn_${L_NAME}_test TEST_PREFIX "${L_NAME}/" DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 600)
    endif()
  endif()
endfunction()
