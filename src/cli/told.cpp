// SPDX-License-Identifier: Apache-2.0
#include "cli/told.h"

#include <tuple>

#include <fmt/format.h>

#include "base/sha256.h"
#include "cli/load.h"
#include "host/system_facts.h"
#include "host/user_files.h"

namespace harn::cli {
namespace {

constexpr std::size_t longest_list = 16384;
constexpr std::size_t key_digits = 16;

}  // namespace

bool is_news(const Caller& caller, std::string_view subject, std::string_view text) {
  const auto boot = host::boot_name();
  const auto file = state_directory(caller).join("told");
  if (!boot) return true;
  // The first line is the boot the rest belongs to.
  const auto key = base::sha256_hex(fmt::format("{}\n{}", subject, text)).substr(0, key_digits);
  std::string list = *boot + "\n";
  if (const auto known = host::read_user_file(file, longest_list); known && known->starts_with(list)) {
    if (known->find(key) != std::string::npos) return false;
    if (known->size() + key.size() + 1 < longest_list) list = *known;
  }
  std::ignore = host::keep_user_file(file, list + key + "\n");  // told again next time when this fails
  return true;
}

}  // namespace harn::cli
