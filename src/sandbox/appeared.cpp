// SPDX-License-Identifier: Apache-2.0
#include "sandbox/appeared.h"

#include <algorithm>
#include <optional>

#include "sys/files.h"

namespace harn::sandbox {
namespace {

constexpr std::size_t longest_listing = 2048;  // a longer directory costs more to read than to ask

}  // namespace

NameWatch::Directories::const_iterator NameWatch::hold(const AbsPath& directory) {
  auto at = directory;
  for (;; at = at.parent()) {
    if (const auto known = directories_.find(at); known != directories_.end()) return known;
    auto opened = sys::open_directory(at);
    if (opened) return directories_.emplace(at, std::move(*opened)).first;
    if (at.is_root() || !sys::is_known_absent(at)) return directories_.emplace(at, sys::UniqueFd()).first;
  }
}

NameWatch NameWatch::before(const Plan& plan, const std::vector<AbsPath>& workspace) {
  NameWatch watch;
  for (const auto& gap : plan.coverage.gaps)
    if (gap.code == "absent_protected_name")
      for (const auto& path : gap.paths) watch.names_.push_back({path, watch.hold(path.parent())});
  for (const auto& root : workspace) {
    auto git = root.join(".git");
    if (!sys::is_known_absent(git)) continue;
    const auto held = watch.hold(root);
    watch.repositories_.push_back({std::move(git), held});
    std::array<Name, 3> bare = {{{root.join("HEAD"), held}, {root.join("objects"), held}, {root.join("refs"), held}}};
    if (std::ranges::any_of(bare, [](const Name& name) { return sys::is_known_absent(name.path); })) watch.bare_.push_back(std::move(bare));
  }
  return watch;
}

// Most of the names would stand at the top of the project, so that is read once.
class NameWatch::After {
 public:
  bool is_there(const Name& name) {
    const auto& [directory, held] = *name.held;
    const auto& listed = listing_of(held);
    const auto below = directory.below(name.path);
    const auto first = below.substr(0, below.find('/'));
    if (listed && !std::ranges::binary_search(*listed, first)) return false;
    // Directories on the way that were made meanwhile are not held; what cannot be looked at may be there.
    return (listed && first == below) || !sys::is_known_absent(name.path);
  }

 private:
  using Listing = std::optional<std::vector<std::string>>;

  const Listing& listing_of(const sys::UniqueFd& held) {
    const auto [found, fresh] = listed_.try_emplace(&held);
    if (fresh && held)
      if (auto names = sys::list_directory(held.get(), longest_listing)) found->second = std::move(*names);
    return found->second;
  }

  std::map<const sys::UniqueFd*, Listing> listed_ = {};
};

void NameWatch::report(Outcome& outcome) const {
  After after;
  for (const auto& name : names_)
    if (after.is_there(name)) outcome.appeared.push_back(name.path.text());
  const auto created = [&](const Name& name) {
    auto root = name.path.parent().text();
    if (std::ranges::find(outcome.created_trusted, root) == outcome.created_trusted.end())
      outcome.created_trusted.push_back(std::move(root));
  };
  for (const auto& name : repositories_)
    if (after.is_there(name)) created(name);
  for (const auto& names : bare_)
    if (std::ranges::all_of(names, [&](const Name& name) { return after.is_there(name); })) created(names[0]);
}

}  // namespace harn::sandbox
