// SPDX-License-Identifier: Apache-2.0
// Layer "landlock": the same grants again, as kernel access rights per ABI. Landlock only adds: a
// rule's rights hold for everything beneath, and nothing can be taken back further down. Where the
// policy does, either the region is written as its parts (around_denials) or the rest is reported.
//
// What the rules mean to the applier: paths are opened without following links; rights that exist
// only for directories are dropped where the object is no directory; with a view, places made by
// it (/tmp, $HOME, /proc, /dev) are the view's own.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "plan/linux/network_reach.h"
#include "plan/lower.h"

namespace harn::plan {

inline constexpr int newest_landlock_abi = 9;

// What a right is part of. Flags: a grant carries several.
enum class RightKind : std::uint8_t {
  never = 0,
  read = 1,
  write = 2,
  remove = 4,
  device = 8,
  socket = 16
};

// One row of the kernel's list of file rights.
struct LandlockRight {
  std::string_view name;
  int since;  // first ABI that knows it
  RightKind kind;
  bool for_files;  // a rule on a file may carry it
};
std::span<const LandlockRight> landlock_rights();

struct LandlockNeeds {
  const View* view = nullptr;  // the tree the rules will hold in; null = the host's
  NetworkReach reach = NetworkReach::none;
  bool relay_only = false;  // of TCP, one port that is known when the relay is there
};

struct LandlockOutcome {
  LandlockPlan plan = {};
  // Where Landlock alone allows more than the policy; the caller reports what no view closes.
  std::vector<PathRule> denied_inside = {};      // access none beneath something granted
  std::vector<AbsPath> denied_in_writable = {};  // those of them that can be written as well
  std::vector<AbsPath> read_only_inside = {};    // access read beneath something writable
  std::vector<AbsPath> absent_names = {};        // may not be created, cannot be refused
  // Where it allows less: directories granted only by their entries cannot be listed themselves.
  std::vector<AbsPath> not_listable = {};

  bool operator==(const LandlockOutcome&) const = default;
};

// Needs facts.linux.landlock_abi >= 1.
LandlockOutcome plan_landlock(const PlanInput& input, const LandlockNeeds& needs);

}  // namespace harn::plan
