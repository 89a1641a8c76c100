// SPDX-License-Identifier: Apache-2.0
#include "plan/macos/swiftpm.h"

#include <algorithm>
#include <string_view>

namespace harn::plan {
namespace {

struct Option {
  std::string_view name;
  std::string_view value;  // empty: the option takes none
};

// Relative: SwiftPM runs in the package, so its state stays in the workspace and under its own .build.
constexpr Option options[] = {
    {"--disable-sandbox", ""},
    {"--manifest-cache", "local"},
    {"--cache-path", ".build/harn/swiftpm/cache"},
    {"--config-path", ".build/harn/swiftpm/config"},
    {"--security-path", ".build/harn/swiftpm/security"},
};

bool is_swiftpm(const std::vector<std::string>& argv) {
  if (argv.size() < 2) return false;
  const std::string_view program = argv[0];
  const auto name = program.substr(program.find_last_of('/') + 1);
  constexpr std::string_view verbs[] = {"build", "test", "run", "package"};
  return name == "swift" && std::find(std::begin(verbs), std::end(verbs), argv[1]) != std::end(verbs);
}

// Present as its own word or as --name=value; words after "--" belong to the program that is run.
bool carries(const std::vector<std::string>& argv, std::string_view name) {
  for (const std::string_view word : argv) {
    if (word == "--") return false;
    if (word == name || (word.starts_with(name) && word.substr(name.size()).starts_with('='))) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> with_swiftpm_options(std::vector<std::string> argv) {
  if (!is_swiftpm(argv)) return argv;
  std::vector<std::string> added;
  for (const auto& option : options) {
    if (carries(argv, option.name)) continue;
    added.emplace_back(option.name);
    if (!option.value.empty()) added.emplace_back(option.value);
  }
  argv.insert(argv.begin() + 2, added.begin(), added.end());
  return argv;
}

}  // namespace harn::plan
