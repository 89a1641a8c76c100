// SPDX-License-Identifier: Apache-2.0
// A look at a call that then goes on by itself: told when it cannot succeed.
#pragma once

#include "run/supervisor/tell.h"

namespace harn::run::supervisor {

// A file or a named socket that is not there, or closed.
struct Finding {
  Wanted wanted = Wanted::calling;
  PathText path = {};
  Word error = 0;
};

struct Look {
  const Caller& caller;
  const seccomp_data& call;
  const Rules& rules;
  Teller& teller;
  Finding* found = nullptr;  // where somebody asks: gets what cannot be found or reached, in place of the teller
};

void look(const Look& look);

// A file or directory that is only to be read, and that we could open where the caller could: nothing is to be told. Not for
// what does something when it is opened; false also when it is another call.
bool can_read(const Caller& caller, const seccomp_data& call);

}  // namespace harn::run::supervisor
