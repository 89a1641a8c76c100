// SPDX-License-Identifier: Apache-2.0
// The view of a command in the words of bwrap.
#pragma once

#include <string>
#include <vector>

#include "harn/plan.h"

namespace harn::plan {

struct BwrapContext {
  const HostFacts& facts;
  bool writes = true;  // false shows writable places read-only
};

struct BwrapMounts {
  std::vector<std::string> words = {};
  std::vector<AbsPath> over_links = {};  // steps left out: bwrap would follow the link at their target
};

BwrapMounts bwrap_mounts(const View& view, const BwrapContext& context);

}  // namespace harn::plan
