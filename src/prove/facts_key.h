// SPDX-License-Identifier: Apache-2.0
// Everything proved facts depend on, as one text. When any of it changes, they are proved again: the
// boot, the kernel and its switches, who we are, and what already confines us (a nested run can do less).
#pragma once

#include <string>

#include "harn/host.h"

namespace harn::prove {

struct FactsKey {
  std::string boot = {};   // so that what an earlier boot left can be told apart
  std::string whole = {};  // one line per dependency
};

// `proc` is shown by tests.
FactsKey facts_key(const HostFacts& claimed, const AbsPath& proc = AbsPath::of("/proc"));

}  // namespace harn::prove
