// SPDX-License-Identifier: Apache-2.0
// A wrapper program's words with their placeholders filled: files it reads become descriptors that
// survive exec, and so does the pipe on which it reports.
#pragma once

#include <string>
#include <vector>

#include "harn/plan.h"
#include "run/script_writer.h"

namespace harn::run {

struct FilledWrapper {
  std::vector<std::string> argv = {};
  sys::UniqueFd status = {};  // our end of "@status"
};

// The last `command_words` words are the command's own and stay as they are.
Result<FilledWrapper> fill_wrapper_words(const Wrapper& wrapper, std::size_t command_words, ScriptWriter& inner);

}  // namespace harn::run
