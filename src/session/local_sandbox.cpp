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
  // A network of its own with a relay, or a supervisor that leads connections to one.
  const bool led = linux.seccomp && linux.seccomp_notify && linux.pidfd_getfd && linux.landlock_abi >= 1 && !linux.user_namespaces;
  const bool hosts = led || (view && linux.network_namespaces && linux.seccomp);
  return {.local_process_sandbox = view || linux.landlock_abi >= 1,
          .network_policy = hosts,
          .snapshot = true,
          .resume = true,
          .suspend_on_idle = view};
}

}  // namespace harn
