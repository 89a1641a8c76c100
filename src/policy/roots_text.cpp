// SPDX-License-Identifier: Apache-2.0
#include "policy/roots_text.h"

#include "base/text.h"

namespace harn::policy {

std::string roots_text(const Policy& policy) {
  std::vector<std::string> names;
  for (const auto& root : entries(policy.workspace_roots)) names.push_back(root.text());
  return base::join(names, ", ");
}

}  // namespace harn::policy
