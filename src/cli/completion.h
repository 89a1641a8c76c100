// SPDX-License-Identifier: Apache-2.0
// Shell completion scripts made from the table of verbs.
#pragma once

#include <string>

namespace harn::cli {

std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

}  // namespace harn::cli
