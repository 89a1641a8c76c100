// SPDX-License-Identifier: Apache-2.0
#include "embed/container_engine.h"

#include "base/text.h"
#include "host/programs.h"

namespace harn::embed {

Result<Backend> container_engine(const Environment& environment) {
  const auto named = environment.find("HARN_ENGINE");
  if (named == environment.end() || named->second.empty()) {
    const auto found = host::find_programs();
    return !found.contains("docker") && found.contains("podman") ? Backend::podman : Backend::docker;
  }
  if (named->second == "docker") return Backend::docker;
  if (named->second == "podman") return Backend::podman;
  return fail(Error{.code = ErrorCode::invalid_policy,
                    .stage = Stage::load,
                    .message = "HARN_ENGINE is " + base::quoted(named->second) + ", which is no container engine",
                    .hint = "set it to docker or podman, or leave it out"});
}

}  // namespace harn::embed
