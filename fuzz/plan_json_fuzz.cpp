// SPDX-License-Identifier: Apache-2.0
// Any text is read or refused; what is read is written and read back as the same plan.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "harn/plan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto plan = harn::plan_from_json({reinterpret_cast<const char*>(bytes), size});
  if (!plan) return 0;
  const auto again = harn::plan_from_json(harn::plan_to_json(*plan, -1));
  if (!again || !(*again == *plan) || harn::digest(*again) != harn::digest(*plan)) std::abort();
  if (harn::native_text(*plan).empty() || harn::native_suffix(*plan).empty()) std::abort();
  return 0;
}
