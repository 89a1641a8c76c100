// SPDX-License-Identifier: Apache-2.0
// One command in a container that runs already.
#pragma once

#include <string>

#include "harn/sandbox.h"
#include "run/container/container.h"

namespace harn::sandbox {

// Starts it and waits until its first program has found every door closed.
Status await_container(run::Container& container);

// `name` is that of the pipe through which the program beside the command tells; nobody else uses it. An error means that it did not
// run; where the container is gone, the error's code is not_available.
Result<Outcome> enter_container(run::Container& container, const Plan& plan, const RunOptions& options, const std::string& name);

}  // namespace harn::sandbox
