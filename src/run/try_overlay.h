// SPDX-License-Identifier: Apache-2.0
// Whether a layer can lie over a tree here: it depends on the kernel and on both file systems, so it is tried with both.
#pragma once

#include "harn/path.h"
#include "harn/result.h"

namespace harn::run {

// `layer` holds the directories "upper" and "work". Mounted in namespaces of its own, by a process that ends at once; an error says what
// the kernel said.
Status try_overlay(const AbsPath& tree, const AbsPath& layer);

}  // namespace harn::run
