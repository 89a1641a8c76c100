# SPDX-License-Identifier: Apache-2.0
# Libraries that are headers only: fmt (compiled once, in base), nlohmann-json and toml++. A compiler for another system must
# not see what else lies in /usr/include, so it gets a folder with these three and nothing besides.
add_library(harn_headers INTERFACE)
if(CMAKE_CROSSCOMPILING)
  foreach(library fmt nlohmann toml++)
    find_path(HARN_HEADERS_OF_${library} ${library} PATHS /usr/include /usr/local/include NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH REQUIRED)
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/headers)
    file(CREATE_LINK ${HARN_HEADERS_OF_${library}}/${library} ${CMAKE_BINARY_DIR}/headers/${library} SYMBOLIC)
  endforeach()
  target_include_directories(harn_headers SYSTEM INTERFACE ${CMAKE_BINARY_DIR}/headers)
else()
  find_package(fmt 9 REQUIRED GLOBAL)  # for projects that add this one
  target_include_directories(harn_headers SYSTEM INTERFACE $<TARGET_PROPERTY:fmt::fmt-header-only,INTERFACE_INCLUDE_DIRECTORIES>)
endif()
