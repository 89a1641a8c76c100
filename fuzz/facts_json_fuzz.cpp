// SPDX-License-Identifier: Apache-2.0
// Any text is read or refused; what is read is written and read back as the same facts.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "harn/plan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto facts = harn::facts_from_json({reinterpret_cast<const char*>(bytes), size});
  if (!facts) return 0;
  const auto again = harn::facts_from_json(harn::facts_to_json(*facts, -1));
  if (!again || !(*again == *facts)) std::abort();
  return 0;
}
