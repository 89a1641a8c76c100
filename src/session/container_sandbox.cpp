// SPDX-License-Identifier: Apache-2.0
// ContainerSandbox: the contract kept with a container for each session.
#include "embed/container_engine.h"
#include "embed/ready.h"
#include "plan/names.h"
#include "session/errors.h"
#include "session/host_sandbox.h"

namespace harn {
namespace {

SandboxResult<Backend> engine_of(const ContainerSandboxConfig& config) {
  if (config.engine == ContainerEngine::docker) return Backend::docker;
  if (config.engine == ContainerEngine::podman) return Backend::podman;
  HARN_SESSION_TRY(found, embed::container_engine(config.context.environment), lifecycle);
  return found;
}

std::string image_of(const ContainerSandboxConfig& config) {
  if (!config.image.empty()) return config.image;
  const auto named = config.context.environment.find("HARN_IMAGE");
  return named == config.context.environment.end() || named->second.empty() ? Command{}.image : named->second;
}

}  // namespace

SandboxResult<ContainerSandbox> ContainerSandbox::open(ContainerSandboxConfig config) {
  auto parts = std::make_unique<Parts>();
  HARN_SESSION_TAKE(engine, engine_of(config));
  parts->options.backend = engine;
  parts->backend = base::enum_name(engine);
  parts->image = image_of(config);
  const auto& environment = config.context.environment;
  HARN_SESSION_TRY(facts,
                   embed::proved_facts({.environment = environment, .cwd = config.context.cwd, .inside = Inside::other_program},
                                       /*confining=*/false),
                   lifecycle);
  parts->facts = std::move(facts);
  if (!parts->facts.tools.contains(parts->backend))
    return session::fail_with(SandboxErrorKind::lifecycle, parts->backend + " is not installed", "install it, or use the local backend");
  HARN_SESSION_OK(embed::settle_named_engine(parts->facts, parts->options, environment, parts->image), lifecycle);
  parts->places = session::places_for(environment);
  parts->root = std::move(config.root_dir);
  parts->profile = config.sandbox_profile;
  parts->lifetime = config.lifetime;
  parts->context = std::move(config.context);
  return ContainerSandbox(std::move(parts));
}

SandboxCapabilities ContainerSandbox::capabilities() const {
  const auto& tool = parts_->facts.tools.at(parts_->backend);
  return {.local_process_sandbox = tool.works, .network_policy = false, .snapshot = true, .resume = tool.pauses, .suspend_on_idle = false};
}

}  // namespace harn
