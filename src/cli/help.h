// SPDX-License-Identifier: Apache-2.0
// Help made from the table of verbs; no line is longer than 80 columns.
#pragma once

#include <string>

#include "cli/args.h"

namespace harn::cli {

// Every verb with its summary; with a prefix ("policy"), only the verbs that begin with that word.
std::string overview(std::string_view prefix = {});
std::string help_of(const Verb& verb);

}  // namespace harn::cli
