// SPDX-License-Identifier: Apache-2.0
// Changes that wait to be applied or discarded: a directory of Harn's own with one layer for each tree,
// held by one process at a time.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "workspace/apply.h"

namespace harn::workspace {

// Where the changes of the project at `root` wait.
AbsPath place_of(const AbsPath& state_directory, const AbsPath& root);
// Removes a place nobody will ask for again, with everything in it.
void forget_place(const AbsPath& place);

class Pending {
 public:
  // Tells whether a layer can lie over its tree; `place` holds "upper" and "work".
  using TryLayer = std::function<Status(const AbsPath& root, const AbsPath& place)>;
  // For a command that is about to run over `roots`, whose layers are the directories 0, 1, … of `place`. What was
  // pending stays so. Where `can_lie` fails for a new one, the tree is copied instead.
  static Result<Pending> begin(const AbsPath& place, const std::vector<AbsPath>& roots, const TryLayer& can_lie = {});
  // Nothing: nothing is pending.
  static Result<std::optional<Pending>> open(const AbsPath& place);

  struct Found {
    std::size_t layer = 0;
    Change change = {};
  };
  const std::vector<Layer>& layers() const { return layers_; }
  Result<std::vector<Found>> changes() const;
  struct Outcome {
    std::size_t done = 0;
    std::vector<Found> left = {};
  };
  // Afterwards, what is no change any more has left the layers, unless somebody still looks through them (`in_use`).
  Result<Outcome> apply(std::vector<Found> chosen, bool in_use = false);
  // Whether a layer still holds anything.
  Result<bool> is_empty() const;
  // Gone in one step, removed after that.
  Status discard();

 private:
  Pending(AbsPath place, sys::UniqueFd lock) : place_(std::move(place)), lock_(std::move(lock)) {}
  static Result<Pending> hold(const AbsPath& place);
  Status read_roots();
  Status write_roots() const;
  Status add(const AbsPath& root, const TryLayer& can_lie);
  AbsPath note(std::size_t layer) const;

  AbsPath place_;
  sys::UniqueFd lock_;
  std::vector<Layer> layers_ = {};
};

}  // namespace harn::workspace
