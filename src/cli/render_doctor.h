// SPDX-License-Identifier: Apache-2.0
// What the doctor found, for people and for programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harn/doctor.h"
#include "harn/prove.h"

namespace harn::cli {

struct ProfileOutlook {
  Profile profile = Profile::worktree;
  std::optional<Plan> plan = {};
  std::string problem = {};  // why there is no plan
};

struct HostPicture {
  const HostFacts& facts;
  const std::vector<Finding>& findings;
  std::vector<ProfileOutlook> profiles = {};
  std::string active_profile = {};  // of the policy
  std::string problem = {};         // why there is no policy to look at
  bool colour = false;
};

std::string picture_of(const HostPicture& picture);
std::string json_of(const HostPicture& picture);
std::string picture_of(const SandboxReport& report, bool colour);

}  // namespace harn::cli
