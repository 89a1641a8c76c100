// SPDX-License-Identifier: Apache-2.0
// One run as JSON. On a tape the bytes of outputs stand in lines of their own.
#pragma once

#include "base/value.h"
#include "harn/tape.h"

namespace harn::tape {

base::Value record_value(const RunRecord& record);
Result<RunRecord> read_record(const base::Value& value);

}  // namespace harn::tape
