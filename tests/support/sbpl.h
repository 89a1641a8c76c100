// SPDX-License-Identifier: Apache-2.0
// What a Seatbelt profile grants, in the terms of decide().
#pragma once

#include "plan/macos/sbpl_profile.h"
#include "support/path_verdict.h"

namespace harn::test {

using plan::parse_sbpl;
using plan::SbplAttempt;
using plan::SbplProfile;

inline PathVerdict verdict_at(const SbplProfile& profile, const std::string& path) {
  return {.read = profile.allows("file-read-data", path),
          .write = profile.allows("file-write-data", path),
          .remove = profile.allows("file-write-unlink", path)};
}

}  // namespace harn::test
