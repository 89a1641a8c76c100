// SPDX-License-Identifier: Apache-2.0
// Sessions whose boundary is a container: it runs without anybody beside it, and everything about it is asked of its engine.
#pragma once

#include "run/container/container.h"
#include "session/exec.h"

namespace harn::session {

// Its directory, which the engine sees; and its name, which is known before it exists.
AbsPath container_files(const Places& places, const std::string& id);
std::string container_name(const Places& places, const std::string& id);

// Makes and starts it. When this fails, nothing is left of it.
struct ContainerStart {
  const Plan& plan;
  std::uint64_t lifetime_ms = 0;
  std::optional<AbsPath> canary = {};
  bool whole_process = false;
};
SandboxResult<void> start_container(const Places& places, Record& record, const ContainerStart& how);

SandboxState container_state(const Places& places, const Record& record);
// `unsupported` where the engine cannot stop its containers.
SandboxResult<void> pause_container(const Places& places, const Record& record, bool asleep);
SandboxResult<void> end_container(const Places& places, const Record& record);

SandboxResult<Outcome> run_contained(const Places& places, const Ready& ready, const embed::Environment& environment, Call call,
                                     Policy policy, AbsPath cwd);

}  // namespace harn::session
