// SPDX-License-Identifier: Apache-2.0
// How much of a policy the native Linux layers enforce together. Every layer that holds a dimension
// is named, so that a receipt can show which doors have two locks.
#pragma once

#include <optional>

#include "plan/linux/landlock.h"
#include "plan/linux/socket_reach.h"
#include "plan/linux/view.h"

namespace harn::plan {

struct LinuxLayers {
  NetworkReach asked = NetworkReach::none;  // by the policy
  NetworkReach given = NetworkReach::none;  // by the plan: none where nothing can hold what was asked
  NetworkReach room = NetworkReach::none;   // what the boundary has room for: more than is given where hosts may be named later
  Isolation isolation = {};
  SocketReach sockets = {};
  std::optional<ViewPlan> view = {};
  std::optional<LandlockOutcome> landlock = {};
  std::optional<SupervisorPlan> supervisor = {};
  std::optional<EgressPlan> egress = {};
  bool filtered = false;            // a syscall filter is installed
  bool supervised_network = false;  // hosts are kept apart by the supervisor, on the host's own network
};

// Where no pid namespace holds the tree.
inline constexpr std::string_view outlives_launcher = "outlives_launcher";
inline constexpr std::string_view outlives_launcher_detail =
    "when harn itself is killed (SIGKILL, out of memory), what the command started lives on, past its limits";

void cover_linux(const PlanInput& input, const LinuxLayers& layers, Coverage& coverage);

// Landlock before ABI 5 does not look at ioctl. Where no rule names a device of its own, nobody needs more than terminals,
// sockets and files understand.
bool limits_ioctls(const PlanInput& input);

// Some rule lets the command change files of the host.
bool somewhere_writable(const PathRules& rules);

}  // namespace harn::plan
