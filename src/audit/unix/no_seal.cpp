// SPDX-License-Identifier: Apache-2.0
// Where the library for signatures is not part of the build: logs are chained and anchored, and nobody can seal
// them or be told that a seal is right.
#include "audit/seal.h"

namespace harn::audit {
namespace {

std::unexpected<Error> not_built() {
  return fail(Error{.code = ErrorCode::not_available,
                    .stage = Stage::audit,
                    .message = "harn on this system is built without seals",
                    .hint = "leave audit.seal_key out; 'harn audit verify' on Linux can check a sealed log"});
}

}  // namespace

Result<KeyPair> make_keys() { return not_built(); }

Result<std::string> make_seal(std::string_view, std::string_view, std::string_view) { return not_built(); }

bool seal_is_right(std::string_view, std::string_view, std::string_view) { return false; }

}  // namespace harn::audit
