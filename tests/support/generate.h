// SPDX-License-Identifier: Apache-2.0
// Generated policies, facts and paths. The vocabulary is small on purpose, so that lists nest,
// collide and meet presets, credentials and protected names all the time.
#pragma once

#include <vector>

#include "harn/plan.h"
#include "support/random.h"

namespace harn::test {

AbsPath random_path(Random& random, Platform platform = Platform::linux);

// Always passes validate(). Workspace roots are always set; make_plan's own checks (roots exist,
// cwd inside, exec allowed) hold for policies from plannable_policy.
Policy random_policy(Random& random, Platform platform = Platform::linux);
Policy plannable_policy(Random& random, const HostFacts& facts);

HostFacts random_facts(Random& random, Platform platform);
Command sample_command();

// Where a disagreement would show: every rule path, its parent, a child, a sibling, protected names.
std::vector<AbsPath> interesting_paths(const Policy& policy, const HostFacts& facts);

}  // namespace harn::test
