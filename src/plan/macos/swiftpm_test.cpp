// SPDX-License-Identifier: Apache-2.0
#include "plan/macos/swiftpm.h"

#include <gtest/gtest.h>

namespace harn::plan {
namespace {

using Words = std::vector<std::string>;

const Words every_option = {"--disable-sandbox",
                            "--manifest-cache",
                            "local",
                            "--cache-path",
                            ".build/harn/swiftpm/cache",
                            "--config-path",
                            ".build/harn/swiftpm/config",
                            "--security-path",
                            ".build/harn/swiftpm/security"};

Words joined(Words before, const Words& middle, const Words& after) {
  before.insert(before.end(), middle.begin(), middle.end());
  before.insert(before.end(), after.begin(), after.end());
  return before;
}

TEST(SwiftPm, AddsItsOptionsAfterTheVerb) {
  for (const auto* verb : {"build", "test", "run", "package"})
    EXPECT_EQ(with_swiftpm_options({"/usr/bin/swift", verb, "-v"}), joined({"/usr/bin/swift", verb}, every_option, {"-v"}));
}

TEST(SwiftPm, LeavesEveryOtherCommandAlone) {
  const Words rows[] = {
      {"swift"}, {"swift", "--version"}, {"swiftc", "build"}, {"make", "build"}, {"swift", "repl"}, {"/opt/swift/", "build"}, {}};
  for (const auto& row : rows) EXPECT_EQ(with_swiftpm_options(row), row);
}

TEST(SwiftPm, KeepsOptionsTheCallerChose) {
  EXPECT_EQ(with_swiftpm_options({"swift", "build", "--cache-path=/c", "--manifest-cache", "none"}),
            joined({"swift", "build"},
                   {"--disable-sandbox", "--config-path", ".build/harn/swiftpm/config", "--security-path", ".build/harn/swiftpm/security"},
                   {"--cache-path=/c", "--manifest-cache", "none"}));
}

TEST(SwiftPm, WordsForTheProgramThatIsRunDoNotCount) {
  EXPECT_EQ(with_swiftpm_options({"swift", "run", "tool", "--", "--disable-sandbox"}),
            joined({"swift", "run"}, every_option, {"tool", "--", "--disable-sandbox"}));
}

TEST(SwiftPm, ALongerOptionIsAnotherOption) {
  EXPECT_EQ(with_swiftpm_options({"swift", "build", "--cache-path-x"}), joined({"swift", "build"}, every_option, {"--cache-path-x"}));
}

}  // namespace
}  // namespace harn::plan
