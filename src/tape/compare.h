// SPDX-License-Identifier: Apache-2.0
// What makes a run another one than the recorded, by name and with both sides. Pure.
#pragma once

#include <vector>

#include "harn/tape.h"

namespace harn::tape {

// Everything but its input and its place.
std::vector<Divergence> compare(const RunRecord& recorded, const RunRecord& now, std::size_t exec, const ReplayRules& rules);

// Reads as much as the recorded run was given.
std::vector<Divergence> compare_input(const RunRecord& recorded, const InputSource& input, std::size_t exec);

// Which of several runs were given what comes now; it is read once, as far as the longest of them needs it.
std::vector<bool> given_this(const std::vector<const RunRecord*>& recorded, const InputSource& input);

std::string input_text(const TapedInput& input);
std::string words_text(const std::vector<std::string>& argv);

}  // namespace harn::tape
