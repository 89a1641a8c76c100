// SPDX-License-Identifier: Apache-2.0
// Every name of a tree, a directory before what is in it, without following a link.
#pragma once

#include <functional>
#include <string>

#include "workspace/state.h"

namespace harn::workspace {

using Visit = std::function<void(const std::string& path, const State& state)>;

// `path` is where `directory` lies in the tree ("" = its root). Mounts beneath are part of it.
Status walk_tree(int directory, const std::string& path, const Visit& visit);

std::string joined(const std::string& path, const std::string& name);

}  // namespace harn::workspace
