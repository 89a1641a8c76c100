// SPDX-License-Identifier: Apache-2.0
// The laws of the meet on policies the fuzzer steers: its bytes seed the generators.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "policy/meet.h"
#include "support/generate.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace harn;
  std::uint64_t seeds[3] = {1, 2, 3};
  if (size != 0) std::memcpy(seeds, bytes, std::min(size, sizeof seeds));
  test::Random first(seeds[0]), second(seeds[1]), third(seeds[2]);
  const auto a = test::random_policy(first);
  const auto b = test::random_policy(second);
  const auto c = test::random_policy(third);
  const auto both = policy::meet(a, b);
  if (both != policy::meet(b, a)) std::abort();
  if (policy::meet(both, c) != policy::meet(a, policy::meet(b, c))) std::abort();
  if (policy::meet(a, a) != canonical(a)) std::abort();
  if (!within(a, both).empty() || !within(b, both).empty()) std::abort();
  return 0;
}
