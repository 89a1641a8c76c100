// SPDX-License-Identifier: Apache-2.0
// Layer "view": the file tree a command lives in, as an ordered list of mounts. What a rule does not
// grant is not there at all; what it grants is at its host location.
//
// What the steps mean to the applier:
// - The first step makes "/". A tmpfs "/" becomes read-only after the last step; every other tmpfs
//   stays writable and private to the run.
// - Mount points are made only inside tmpfs, hide and dev, never on the host. A target is never
//   resolved through a link: a file may be mounted over one.
// - Binds carry nosuid, and nodev unless the target is a device or lies beneath /dev.
// - hide stays traversable, not listable, when later steps stand beneath it.
// - dev holds null zero full random urandom tty, links stdin stdout stderr fd ptmx, and its own pts
//   and shm.
#pragma once

#include <string>
#include <vector>

#include "plan/lower.h"

namespace harn::plan {

struct Isolation {
  bool network = false;   // a network namespace of its own
  bool loopback = false;  // with its loopback up
};

struct ViewPlan {
  View view = {};
  // What mounts cannot do here; the caller reports it.
  std::vector<AbsPath> absent_names = {};   // do not exist, may not be created, cannot be refused
  std::vector<AbsPath> loose_links = {};    // links above a protected name: they can be replaced
  std::vector<AbsPath> loose_devices = {};  // a read-only mount does not stop writes to a device
  std::vector<std::string> notes = {};

  bool operator==(const ViewPlan&) const = default;
};

ViewPlan plan_view(const PlanInput& input, Isolation isolation);

// Whether the command gets writable temporary space of its own: preset user_temp in a policy that
// allows writing. Without it $HOME and /tmp are there, empty and read-only.
bool wants_temp(const Policy& policy);

}  // namespace harn::plan
