// SPDX-License-Identifier: Apache-2.0
// Any bytes are either refused or a value, and a value survives printing; the canonical form is stable.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace harn::base;
  const std::string text(bytes, bytes + size);
  const auto value = parse_json(text, "fuzz.json");
  if (!value) {
    if (value.error().message.empty() || !value.error().where.starts_with("fuzz.json:")) std::abort();
    return 0;
  }
  const auto line = parse_json(print_json(*value));
  const auto indented = parse_json(print_json(*value, 2));
  if (!line || !indented || *line != *value || *indented != *value) std::abort();
  const auto canonical = canonical_json(*value);
  const auto again = parse_json(canonical);
  if (!again || canonical_json(*again) != canonical) std::abort();
  return 0;
}
