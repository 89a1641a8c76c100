// SPDX-License-Identifier: Apache-2.0
// How many generated cases a law is tried on. Instrumented builds run many times slower and are there
// to find bad memory accesses and unreached lines, so they ask for a fiftieth of them.
#pragma once

#include <concepts>
#include <cstdlib>

namespace harn::test {

inline bool fewer_cases() {
  const char* asked = std::getenv("HARN_FEWER_CASES");
  return asked != nullptr && *asked != '\0';
}

template <std::integral Count>
Count cases_of(Count all) {
  return fewer_cases() ? static_cast<Count>(all / 50) : all;
}

}  // namespace harn::test
