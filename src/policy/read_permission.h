// SPDX-License-Identifier: Apache-2.0
// From a neutral tree to a PermissionPolicy: the reader behind both text formats.
#pragma once

#include "base/value.h"
#include "harn/permission.h"
#include "policy/place.h"

namespace harn::policy {

Result<PermissionPolicy> read_permission(const base::Value& root, const TextContext& context, TextFormat format);

// `*` and `**` in `net`: every host.
bool is_every_host(std::string_view pattern);

}  // namespace harn::policy
