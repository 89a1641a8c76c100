// SPDX-License-Identifier: Apache-2.0
// Command: what is to be run. Data only; nothing here grants anything.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harn/path.h"

namespace harn {

struct Command {
  std::vector<std::string> argv = {};
  std::optional<AbsPath> cwd = {};                      // unset = the facts' working directory
  std::map<std::string, std::string> environment = {};  // the caller's environment, before the policy's rules
  std::string image = "python:3.12-slim";               // containers only

  bool operator==(const Command&) const = default;
};

}  // namespace harn
