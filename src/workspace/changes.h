// SPDX-License-Identifier: Apache-2.0
// What commands made of a tree, told from the layer that holds their changes and the tree itself.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "workspace/manifest.h"

namespace harn::workspace {

// One tree of the host and the layer over it, as overlayfs keeps it.
struct Layer {
  AbsPath root = {};
  AbsPath upper = {};
  AbsPath manifest = {};
  // Where no layer can lie over the tree: `upper` is a copy of it, and this file tells how the copy looked when it was made.
  std::optional<AbsPath> copied = {};
};

enum class Kind : std::uint8_t {
  added,
  modified,
  mode,      // only that
  replaced,  // by something of another kind
  deleted,
};

struct Change {
  std::string path = {};  // beneath the root
  Kind kind = Kind::modified;
  State before = {};          // on the host now
  State after = {};           // in the layer
  std::string conflict = {};  // what somebody else did to it on the host; empty = nothing
};

// By path, a directory before what is in it. Nothing is listed that would change nothing.
Result<std::vector<Change>> find_changes(const Layer& layer, const Manifest& manifest);

// Takes everything out of the layer that the tree holds already. True when nothing is left in it.
Result<bool> drop_settled(const Layer& layer);

}  // namespace harn::workspace
