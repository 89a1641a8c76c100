// SPDX-License-Identifier: Apache-2.0
// One function per mechanism: tries it, says how it did, and writes down in the facts what may be
// relied on. Facts start empty: nothing is believed that was not seen.
#pragma once

#include "harn/prove.h"
#include "prove/proving_ground.h"

namespace harn::prove {

// user, mount and pid namespaces with every mount of a view, and the init program inside.
Finding prove_view(const ProvingGround& ground, LinuxFacts& facts);
// Needs the view.
Finding prove_network_namespace(const ProvingGround& ground, LinuxFacts& facts);
// The highest ABI of which every right that can be tried was seen to refuse.
Finding prove_landlock(const ProvingGround& ground, LinuxFacts& facts);
Finding prove_seccomp(const ProvingGround& ground, LinuxFacts& facts);
// Needs seccomp and Landlock: a supervisor answers for a command without a view.
Finding prove_seccomp_notify(const ProvingGround& ground, LinuxFacts& facts);
Finding prove_cgroup(const ProvingGround& ground, LinuxFacts& facts);
// Everything found so far at once; where that fails, the view is given up.
Finding prove_together(const ProvingGround& ground, LinuxFacts& facts);
// bubblewrap or firejail, whichever `name` is; container engines are for settle_engine().
Finding prove_wrapper(const ProvingGround& ground, const std::string& name, const LinuxFacts& facts, Tool& tool);

}  // namespace harn::prove
