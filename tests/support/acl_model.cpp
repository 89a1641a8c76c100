// SPDX-License-Identifier: Apache-2.0
#include "support/acl_model.h"

#include <algorithm>

namespace harn::test {

AclModel::AclModel(const AppContainer& container, const AbsPath& system_volume) {
  for (const auto& grant : container.grants) {
    auto& list = lists_[grant.path];
    if (grant.stops_inheritance) list.stops_inheritance = true;
    else list.entries.push_back({.modify = grant.modify, .inherited = grant.inherit});
  }
  for (const auto* name : {"Windows", "Program Files", "Program Files (x86)"}) open_to_all_containers_.push_back(system_volume.join(name));
}

PathVerdict AclModel::at(const AbsPath& path) const {
  PathVerdict out;
  out.read =
      std::any_of(open_to_all_containers_.begin(), open_to_all_containers_.end(), [&](const AbsPath& open) { return open.contains(path); });
  for (auto at = path;; at = at.parent()) {
    if (const auto it = lists_.find(at); it != lists_.end()) {
      for (const auto& entry : it->second.entries) {
        if (at != path && !entry.inherited) continue;
        out.read = true;
        if (entry.modify) out.write = out.remove = true;
      }
      if (it->second.stops_inheritance) return out;
    }
    if (at.is_root()) return out;
  }
}

}  // namespace harn::test
