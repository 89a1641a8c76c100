// SPDX-License-Identifier: Apache-2.0
// The meet of two sets of path lists. A model is piecewise constant: its meaning changes only at
// paths some list names (or at protected names). So the pointwise minimum is found by walking those
// paths from the root downwards and writing a rule wherever the wanted meaning differs from what the
// rules written so far already say.
#include <algorithm>

#include "policy/path_model.h"
#include "policy/presets.h"

namespace harn::policy {
namespace {

class Emitter {
 public:
  Emitter(const PathModel& a, const PathModel& b) : a_(a), b_(b), same_(&a == &b) {}

  PathLists run() {
    const auto lifted = shared_unprotected();  // the target refers to what it is given
    for (const auto& path : lifted) {
      lists_.unprotect.push_back(path);
      target_.add_unprotect(path);
    }
    const auto names = protected_paths();
    for (const auto* path : candidates(names)) emit(*path);
    std::sort(lists_.unprotect.begin(), lists_.unprotect.end());
    return std::move(lists_);
  }

 private:
  PathValue wanted(const AbsPath& path) const {
    const auto mine = a_.value(path.text());
    return same_ ? mine : meet(mine, b_.value(path.text()));
  }

  // Lifted by both sides; only the topmost of nested ones.
  std::vector<AbsPath> shared_unprotected() const {
    std::vector<AbsPath> all = a_.unprotected_paths();
    const auto more = b_.unprotected_paths();
    all.insert(all.end(), more.begin(), more.end());
    std::sort(all.begin(), all.end());
    std::vector<AbsPath> shared;
    for (const auto& path : all) {
      if (!a_.is_unprotected(path.text()) || !b_.is_unprotected(path.text())) continue;
      if (shared.empty() || !shared.back().contains(path)) shared.push_back(path);
    }
    return shared;
  }

  std::vector<const AbsPath*> candidates(const std::vector<AbsPath>& names) const {
    std::vector<const AbsPath*> paths;
    const auto add = [&](const AbsPath& path) { paths.push_back(&path); };
    a_.for_each_path(add);
    if (!same_) b_.for_each_path(add);
    std::for_each(names.begin(), names.end(), add);
    std::sort(paths.begin(), paths.end(), [](const AbsPath* x, const AbsPath* y) { return *x < *y; });
    paths.erase(std::unique(paths.begin(), paths.end(), [](const AbsPath* x, const AbsPath* y) { return *x == *y; }), paths.end());
    return paths;
  }

  // A root that stays writable carries its protected names along, so they need no look of their own
  // unless somebody lifted one.
  std::vector<AbsPath> protected_paths() const {
    std::vector<AbsPath> paths;
    add_protected(a_, paths);
    if (!same_) add_protected(b_, paths);
    return paths;
  }

  void add_protected(const PathModel& model, std::vector<AbsPath>& paths) const {
    const bool every_root = a_.has_unprotect() || b_.has_unprotect();
    for (const auto& root : model.writable_roots()) {
      if (!every_root && wanted(root).process == Ruled::write) continue;
      for (const auto& protected_name : protected_names()) paths.push_back(root.join(protected_name.name));
    }
  }

  void emit(const AbsPath& path) {
    const auto want = wanted(path);
    if (want.process == Ruled::deny) return emit_deny(path);
    if (want.process == Ruled::unruled) return;
    // A writable root is written even where it changes no access: its protected names are meaning too.
    const bool root = want.process == Ruled::write && (a_.is_writable_root(path.text()) || b_.is_writable_root(path.text()));
    if (!root && target_.value(path.text()) == want) return;
    if (want.process == Ruled::write && target_.is_protected(path.text())) {
      lists_.unprotect.push_back(path);
      target_.add_unprotect(path);
      if (!root && target_.value(path.text()) == want) return;
    }
    emit_grant(path, want, root);
  }

  void emit_deny(const AbsPath& path) {
    if (target_.value(path.text()).process == Ruled::deny) return;
    lists_.deny.push_back(path);
    target_.add_deny(path);
  }

  void emit_grant(const AbsPath& path, PathValue want, bool root) {
    if (want.file == Access::write) {
      lists_.workspace.push_back(path);
      target_.add_workspace(path);
    } else if (want.file == Access::read && target_.value(path.text()).file != Access::read) {
      lists_.read_only.push_back(path);
      target_.add_read_only(path);
    }
    if (!(root && want.file != Access::write) && target_.value(path.text()) == want) return;
    if (want.process == Ruled::write) {
      lists_.process_write.push_back(path);
      target_.add_process_write(path);
    } else {
      lists_.process_read.push_back(path);
      target_.add_process_read(path);
    }
  }

  const PathModel& a_;
  const PathModel& b_;
  bool same_;  // a policy meets itself
  PathModel target_ = {};
  PathLists lists_ = {};
};

}  // namespace

PathLists meet_paths(const PathModel& a, const PathModel& b) { return Emitter(a, b).run(); }

void put_path_lists(PathLists lists, Policy& policy) {
  const auto put = [](std::vector<AbsPath>& from, std::optional<std::vector<AbsPath>>& to) {
    to.reset();
    if (!from.empty()) to = std::move(from);
  };
  put(lists.read_only, policy.read_only_roots);
  put(lists.unprotect, policy.unprotect);
  put(lists.process_read, policy.process_sandbox.read_roots);
  put(lists.process_write, policy.process_sandbox.write_roots);
  policy.process_sandbox.read_deny_roots = std::move(lists.deny);
}

}  // namespace harn::policy
