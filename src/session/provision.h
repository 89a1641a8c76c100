// SPDX-License-Identifier: Apache-2.0
// From a spec and a policy to a session: the one way that the library and the command line share.
#pragma once

#include "session/mounts.h"

namespace harn::session {

struct ProvisionRequest {
  const SandboxSpec& spec;
  Policy policy = {};                // without the mounts, which are granted here
  std::optional<AbsPath> root = {};  // unset = a fresh directory, which becomes the workspace
  PlanOptions options = {};
  std::optional<std::chrono::milliseconds> lifetime = {};
  Limits together = {};           // memory, processes and processor share of everybody in it
  bool together_or_none = false;  // where they cannot be had for the session, there is none
  std::string image = {};         // of a container, where options.backend names an engine
  bool whole_process = false;
  const embed::Environment& environment;
  const MountGround& ground;
};

SandboxResult<Record> provision(ProvisionRequest request);

}  // namespace harn::session
