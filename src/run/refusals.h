// SPDX-License-Identifier: Apache-2.0
// What the supervisor program tells of failed calls, as the rest of the program knows it.
#pragma once

#include "harn/outcome.h"

namespace harn::run {

// What waits, at most `most` of it: a command can fail faster than anybody explains. False when nothing is left.
struct RefusalSinks {
  RefusalSink refusal = {};
  QuestionSink question = {};  // without one every question is answered with no
};
bool hand_on_refusals(int fd, const RefusalSinks& sinks, int most);

}  // namespace harn::run
