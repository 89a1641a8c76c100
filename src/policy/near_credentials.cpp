// SPDX-License-Identifier: Apache-2.0
#include "policy/near_credentials.h"

#include <algorithm>

#include "base/path_order.h"

namespace harn::policy {
namespace {

std::span<const CredentialRow>::iterator first_from(std::string_view relative) {
  return std::ranges::lower_bound(
      home_credentials(), relative, [](std::string_view a, std::string_view b) { return base::path_order(a, b) < 0; },
      &CredentialRow::path);
}

const CredentialRow* find_row(std::string_view relative) {
  const auto row = first_from(relative);
  return row != home_credentials().end() && row->path == relative ? &*row : nullptr;
}

}  // namespace

void NearCredentials::pick_near(const AbsPath& path) {
  if (path.contains(home_)) return pick_all();
  const auto relative = home_.below(path);
  if (relative.empty()) return;
  const auto rows = home_credentials();
  for (auto row = first_from(relative); row != rows.end() && base::path_contains(relative, row->path); ++row)
    picked_[static_cast<std::size_t>(row - rows.begin())] = true;
  for (auto cut = relative.find('/'); cut != std::string_view::npos; cut = relative.find('/', cut + 1))
    if (const auto* row = find_row(relative.substr(0, cut))) picked_[static_cast<std::size_t>(row - rows.data())] = true;
}

std::vector<CredentialRow> NearCredentials::picked() const {
  std::vector<CredentialRow> rows;
  for (std::size_t i = 0; i < picked_.size(); ++i)
    if (picked_[i]) rows.push_back(home_credentials()[i]);
  return rows;
}

const CredentialRow* find_credential(const AbsPath& home, std::string_view path) {
  const std::string_view above = home.text();
  if (!base::path_contains(above, path) || path.size() == above.size()) return nullptr;
  return find_row(path.substr(above.size() + (home.is_root() ? 0 : 1)));
}

}  // namespace harn::policy
