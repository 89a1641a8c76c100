// SPDX-License-Identifier: Apache-2.0
// A look at a call that then goes on by itself: told when it cannot succeed.
#pragma once

#include "run/supervisor/tell.h"

namespace harn::run::supervisor {

struct Look {
  const Caller& caller;
  const seccomp_data& call;
  const Rules& rules;
  Teller& teller;
};

void look(const Look& look);

}  // namespace harn::run::supervisor
