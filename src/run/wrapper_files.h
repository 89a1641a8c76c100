// SPDX-License-Identifier: Apache-2.0
// A wrapper program's words with their placeholders filled: files it reads become descriptors that
// survive exec.
#pragma once

#include <string>
#include <vector>

#include "harn/plan.h"
#include "run/script_writer.h"

namespace harn::run {

Result<std::vector<std::string>> fill_wrapper_words(const Wrapper& wrapper, Keep& keep, ScriptWriter& inner);

}  // namespace harn::run
