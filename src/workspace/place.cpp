// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.h"
#include "workspace/pending.h"

namespace harn::workspace {

AbsPath place_of(const AbsPath& state_directory, const AbsPath& root) {
  return state_directory.join("overlays").join(base::sha256_hex(root.text()).substr(0, 16));
}

}  // namespace harn::workspace
