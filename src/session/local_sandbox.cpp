// SPDX-License-Identifier: Apache-2.0
// LocalSandbox: the contract kept with this host's own boundary.
#include "embed/ready.h"
#include "session/errors.h"
#include "session/host_sandbox.h"

namespace harn {

SandboxResult<LocalSandbox> LocalSandbox::open(LocalSandboxConfig config) {
  auto parts = std::make_unique<Parts>();
  HARN_SESSION_TRY(
      facts, embed::proved_facts({.environment = config.context.environment, .cwd = config.context.cwd, .inside = Inside::other_program}),
      lifecycle);
  parts->facts = std::move(facts);
  parts->places = session::places_for(config.context.environment);
  parts->root = std::move(config.root_dir);
  parts->profile = config.sandbox_profile;
  parts->lifetime = config.lifetime;
  parts->context = std::move(config.context);
  return LocalSandbox(std::move(parts));
}

SandboxCapabilities LocalSandbox::capabilities() const {
  const auto& linux = parts_->facts.linux;
  const bool view = linux.user_namespaces && linux.pid_namespaces;
  return {.local_process_sandbox = view || linux.landlock_abi >= 1,
          .network_policy = false,  // named hosts need a relay that outlives whoever started it
          .snapshot = true,
          .resume = true,
          .suspend_on_idle = view};
}

}  // namespace harn
