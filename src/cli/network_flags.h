// SPDX-License-Identifier: Apache-2.0
// What the command line and HARN_EGRESS_* say about the network.
#pragma once

#include <map>
#include <string>

#include "cli/args.h"
#include "harn/plan.h"

namespace harn::cli {

Status read_network(const Arguments& arguments, Policy& policy);

// HARN_EGRESS_ALLOW adds to the hosts of the flags, unless --net says something else.
Status add_egress_hosts(const Arguments& arguments, const std::map<std::string, std::string>& environment, Policy& flags);

Result<EgressChoices> egress_choices(const Arguments& arguments, const std::map<std::string, std::string>& environment);

}  // namespace harn::cli
