// SPDX-License-Identifier: Apache-2.0
// Containers need an engine for Linux images; on Windows nobody plans for one.
#include "embed/container_engine.h"

namespace harn::embed {

Result<Backend> container_engine(const Environment&) {
  return fail(Error{.code = ErrorCode::not_supported,
                    .stage = Stage::load,
                    .message = "containers are not used on Windows",
                    .hint = "leave --sandbox docker out"});
}

}  // namespace harn::embed
