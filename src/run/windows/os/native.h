// SPDX-License-Identifier: Apache-2.0
// Handles of the table are numbers; here they are Windows's own.
#pragma once

#include "run/windows/calls.h"
#include "sys/windows/native.h"

namespace harn::run::windows {

using sys::call_failed;
using sys::exported;
using sys::narrow;
using sys::UniqueHandle;
using sys::wide;

inline HANDLE native(Handle handle) { return reinterpret_cast<HANDLE>(handle); }
inline Handle neutral(HANDLE handle) { return reinterpret_cast<Handle>(handle); }

}  // namespace harn::run::windows
