// SPDX-License-Identifier: Apache-2.0
// Any bytes are either refused or a policy, and a policy survives printing in both formats.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "harn/policy_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(bytes, bytes + size);
  const harn::TextContext context{.home = harn::AbsPath::of("/home/me"), .file_name = "fuzz.json"};
  const auto policy = harn::parse_policy_json(text, context);
  if (!policy) {
    if (policy.error().message.empty() || !policy.error().where.starts_with("fuzz.json")) std::abort();
    return 0;
  }
  const auto from_toml = harn::parse_policy_toml(harn::policy_to_toml(*policy), context);
  const auto from_json = harn::parse_policy_json(harn::policy_to_json(*policy), context);
  if (!from_toml || !from_json || *from_toml != *policy || *from_json != *policy) std::abort();
  return 0;
}
