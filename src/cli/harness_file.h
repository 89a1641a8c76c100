// SPDX-License-Identifier: Apache-2.0
// The settings of a Harness project, .harness/config.toml, in place of a harn.toml: a project file like any
// other, which may only narrow until somebody trusts it.
#pragma once

#include <optional>
#include <string>

#include "cli/load.h"
#include "harn/host.h"
#include "harn/plan.h"

namespace harn::cli {

struct HarnessFile {
  SourceText source = {};
  Policy policy = {};
  std::optional<Backend> backend = {};  // docker, where the file says so
  std::string image = {};               // empty = the default
};

bool is_harness_file(const AbsPath& path);

// `mode` is the value of --sandbox: it takes the place of the file's, and makes one count that is not enabled.
Result<HarnessFile> parse_harness_file(SourceText source, const AbsPath& home, const std::string* mode = nullptr);

// The nearest one, where it has a table [sandbox] that is enabled or asked for.
Result<std::optional<HarnessFile>> find_harness_file(const HostFacts& facts, const std::string* mode);

}  // namespace harn::cli
