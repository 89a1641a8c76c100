// SPDX-License-Identifier: Apache-2.0
// A name for one run that no other run has.
#pragma once

#include <string>

namespace harn::run {

std::string make_run_id();  // "run-" and 16 hex digits

}  // namespace harn::run
