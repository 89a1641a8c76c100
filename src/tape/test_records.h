// SPDX-License-Identifier: Apache-2.0
// Runs for tests.
#pragma once

#include <string>

#include "base/sha256.h"
#include "harn/tape.h"

namespace harn::test {

inline TapedOutput output(std::string bytes) {
  return {.size = bytes.size(), .sha256 = base::sha256_hex(bytes), .bytes = std::move(bytes)};
}

inline RunRecord described(std::vector<std::string> argv, const std::map<std::string, std::string>& environment = {{"PATH", "/bin"}},
                           const Policy& policy = {}) {
  const auto cwd = AbsPath::of("/work");
  const std::vector<std::string> secrets;
  return describe_run({.policy = policy, .argv = argv, .cwd = cwd, .environment = environment, .secrets = secrets});
}

inline RunRecord ended(RunRecord record, std::string out, int exit_code = 0, std::string input = {}) {
  record.run_id = "run-0123456789abcdef";
  record.recorded_at = "2026-01-01T00:00:00.000000Z";
  record.input = {.size = input.size(), .sha256 = base::sha256_hex(input), .ended = true};
  record.end = TapedEnd{.exit_code = exit_code, .wall_ms = 7};
  record.out = output(std::move(out));
  record.err = output("");
  return record;
}

}  // namespace harn::test
