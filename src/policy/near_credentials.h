// SPDX-License-Identifier: Apache-2.0
// Of the many credential paths of a home directory, those that matter to a policy: a secret that lies
// neither at, above nor beneath anything granted is closed without a rule. Found by searching the
// sorted table, so that the others are never even spelled out.
#pragma once

#include <vector>

#include "policy/presets.h"

namespace harn::policy {

class NearCredentials {
 public:
  explicit NearCredentials(AbsPath home) : home_(std::move(home)), picked_(home_credentials().size()) {}

  void pick_all() { picked_.assign(picked_.size(), true); }
  // Those at, above or beneath the path.
  void pick_near(const AbsPath& path);

  std::vector<CredentialRow> picked() const;

 private:
  AbsPath home_;
  std::vector<bool> picked_;
};

// The row of exactly this path, or null.
const CredentialRow* find_credential(const AbsPath& home, std::string_view path);

}  // namespace harn::policy
