// SPDX-License-Identifier: Apache-2.0
// A block of rules and, after its last zero byte, a path: no crash, and what a broken block allows is nothing.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "run/supervisor/rules.cpp"  // NOLINT(bugprone-suspicious-include): the program it belongs to has no library

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace harn::run::supervisor;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto cut = text.rfind('\0');
  const auto block = text.substr(0, cut);
  const auto path = cut == std::string_view::npos ? std::string_view("/w/x") : text.substr(cut + 1);
  const Rules rules(block.data(), block.size());
  const auto allowed = rules.at(path);
  if (allowed > Allowed::writing) std::abort();
  if (block.size() < sizeof(RulesHeader) && allowed != Allowed::nothing) std::abort();
  if (rules.closed_beneath(path) && path.empty()) std::abort();
  return 0;
}
