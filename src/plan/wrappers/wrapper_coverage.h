// SPDX-License-Identifier: Apache-2.0
// What bubblewrap, firejail and the container engines have in common: mounts cannot tell writing from
// deleting, a network namespace cannot tell one host from another, and there is no Landlock inside.
#pragma once

#include <string>

#include "plan/linux/socket_reach.h"
#include "plan/lower.h"

namespace harn::plan {

// How far a wrapper lets the command reach. It cannot open single hosts, so it opens none of them.
NetworkReach wrapped_reach(const Policy& policy);

// The first word: the program that was found and tried, else its name.
std::string program(const HostFacts& facts, const std::string& tool, const std::string& name);

// Which Unix sockets can be offered when only mounts and a network namespace keep the others away.
SocketReach wrapped_sockets(const PlanInput& input, bool shares_network);

// The filter for a command that has its own view, processes and ipc.
Result<SyscallFilter> wrapped_syscalls(const PlanInput& input, const SocketReach& sockets);

// Points temporary files at the private /tmp, where there is one.
void place_wrapped_temp(const PlanInput& input, Plan& plan);

// Claims every dimension a wrapper holds by separation alone for `layer`.
void cover_separation(const std::string& layer, Coverage& coverage);
void cover_network(const Policy& policy, const std::string& layer, Coverage& coverage);
void cover_sockets(const SocketReach& sockets, const std::string& layer, Plan& plan);

// The access a mount gives for a rule. Mounts cannot tell writing from deleting, so deleting alone
// becomes reading; cover_joint_deletes() says so.
Access mounted_access(const PathRules& rules, const PathRule& rule);

// A wrapper cannot mount over a link, so a link at or above a closed name can be replaced.
void cover_links(std::vector<AbsPath> links, Coverage& coverage);

// Whether the operator named the path, so that leaving it out must not pass quietly.
bool is_named(Origin origin);
Error behind_link(const AbsPath& path, const AbsPath& link);

// The error for what a wrapper cannot say.
Error cannot_express(std::string message, std::string hint);

}  // namespace harn::plan
