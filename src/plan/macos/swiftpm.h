// SPDX-License-Identifier: Apache-2.0
// SwiftPM starts sandbox-exec itself, which macOS refuses inside a sandbox, and keeps its caches in
// the home directory, which the sandbox does not open. Both are settled on its command line.
#pragma once

#include <string>
#include <vector>

namespace harn::plan {

// The argv of `swift build|test|run|package` with the options added that it does not carry yet; any
// other argv unchanged.
std::vector<std::string> with_swiftpm_options(std::vector<std::string> argv);

}  // namespace harn::plan
