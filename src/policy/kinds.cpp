// SPDX-License-Identifier: Apache-2.0
#include "policy/kinds.h"

#include "policy/path_model.h"

namespace harn {
namespace {

// What a path in this directory is that no fact names.
PathKind unlisted_in(const HostFacts& facts, std::string_view directory) {
  for (auto at = directory; !at.empty(); at = policy::parent_text(at)) {
    const auto it = facts.paths.find(at);
    // Nothing lies beneath what is no directory.
    if (it != facts.paths.end()) return it->second.kind == PathKind::directory ? facts.unlisted : PathKind::missing;
  }
  return facts.unlisted;
}

}  // namespace

PathKind HostFacts::kind_of(const AbsPath& path) const {
  const auto it = paths.find(path.text());
  return it != paths.end() ? it->second.kind : unlisted_in(*this, policy::parent_text(path.text()));
}

PathKind policy::Kinds::at(std::string_view path) {
  if (facts_.paths.empty()) return facts_.unlisted;
  if (const auto it = facts_.paths.find(path); it != facts_.paths.end()) return it->second.kind;
  const auto directory = parent_text(path);
  if (directory.empty()) return facts_.unlisted;
  if (directory != directory_) {
    unlisted_there_ = unlisted_in(facts_, directory);
    directory_ = directory;
  }
  return unlisted_there_;
}

}  // namespace harn
