// SPDX-License-Identifier: Apache-2.0
// First line an entry, the rest a command: no crash, and an entry always blocks itself.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "policy/blocked_commands.h"
#include "policy/shell_words.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto cut = text.find('\n');
  const std::string entry(text.substr(0, cut));
  const auto command = cut == std::string_view::npos ? std::string_view{} : text.substr(cut + 1);
  const auto verdict = harn::policy::validate_command({entry}, command);
  if (verdict && !verdict->starts_with("Command blocked by sandbox policy: contains '")) std::abort();
  const bool blank = entry.find_first_not_of(" \t\n\v\f\r") == std::string::npos;
  if (!blank && !harn::policy::validate_command({entry}, entry)) std::abort();
  for (const auto& words : harn::policy::split_shell(command))
    if (words.empty()) std::abort();
  return 0;
}
