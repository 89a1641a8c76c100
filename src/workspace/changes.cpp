// SPDX-License-Identifier: Apache-2.0
#include "workspace/changes.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <tuple>

#include "sys/files.h"
#include "workspace/content.h"
#include "workspace/walk.h"

namespace harn::workspace {
namespace {

constexpr std::size_t most_names = 10'000'000;
constexpr std::uint32_t permissions = 07777;

bool is_whiteout(int directory, const std::string& name) {
  struct stat status = {};
  return ::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISCHR(status.st_mode) &&
         status.st_rdev == makedev(0, 0);
}

// A directory that stands in place of the one below instead of lying over it.
bool is_opaque(int directory) {
  char value = 0;
  return ::fgetxattr(directory, "user.overlay.opaque", &value, 1) == 1 && value == 'y';
}

Result<sys::UniqueFd> enter(int directory, const std::string& name) {
  sys::UniqueFd fd(::openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) return fail(sys::os_failure("open", name, errno));
  return fd;
}

std::string difference(const State& then, const State& now) {
  if (then == now) return {};
  if (!then.exists()) return "it appeared on the host meanwhile";
  if (!now.exists()) return "it was deleted on the host meanwhile";
  return "it was changed on the host meanwhile";
}

// Its kind, from what is there before and after. False where nobody could tell the two apart.
Result<bool> settle_kind(int upper, int lower, const std::string& name, Change& change) {
  const auto& [above, below] = std::tie(change.after, change.before);
  if (!below.exists() || (above.mode & S_IFMT) != (below.mode & S_IFMT)) {
    change.kind = below.exists() ? Kind::replaced : Kind::added;
    return true;
  }
  HARN_TRY(same, above.is_directory() ? Result<bool>(true) : same_content(upper, name, lower, name));
  change.kind = same ? Kind::mode : Kind::modified;
  return !same || (!above.is_link() && (above.mode & permissions) != (below.mode & permissions));
}

class Finder {
 public:
  explicit Finder(const Manifest& manifest) : manifest_(manifest) {}

  // `lower` is -1 where the host has no such directory. `cut`: nothing of it is seen through the layer.
  Status directory(int upper, int lower, const std::string& path, bool cut) {
    HARN_TRY(entries, sys::list_entries(upper, most_names));
    for (const auto& entry : entries) HARN_OK(name(upper, lower, joined(path, entry.name), cut));
    if (!cut || lower < 0) return {};
    HARN_TRY(covered, sys::list_entries(lower, most_names));
    for (const auto& entry : covered)
      if (!look(upper, entry.name).exists()) HARN_OK(deleted(lower, entry.name, joined(path, entry.name)));
    return {};
  }

  std::vector<Change> changes;

 private:
  Status name(int upper, int lower, const std::string& where, bool cut) {
    const auto name = split_path(where).name;
    const auto below = lower < 0 ? State{} : look(lower, name);
    if (is_whiteout(upper, name)) return below.exists() ? deleted(lower, name, where) : Status();
    const auto above = look(upper, name);
    if (!above.exists()) return {};
    Change change{.path = where, .before = below, .after = above, .conflict = difference(manifest_.at(where), below)};
    HARN_TRY(different, settle_kind(upper, lower, name, change));
    if (!different) change.path.clear();
    // A directory of the host lives on below what replaces it, until its names are gone.
    if (change.kind == Kind::replaced && below.is_directory()) {
      HARN_TRY(inside, enter(lower, name));
      HARN_OK(all_deleted(inside.get(), where));
    }
    if (!change.path.empty()) changes.push_back(std::move(change));
    if (!above.is_directory()) return {};
    HARN_TRY(next, enter(upper, name));
    if (!below.is_directory()) return directory(next.get(), -1, where, cut);
    HARN_TRY(inside, enter(lower, name));
    return directory(next.get(), inside.get(), where, cut || is_opaque(next.get()));
  }

  Status all_deleted(int directory, const std::string& path) {
    HARN_TRY(entries, sys::list_entries(directory, most_names));
    for (const auto& entry : entries) HARN_OK(deleted(directory, entry.name, joined(path, entry.name)));
    return {};
  }

  Status deleted(int lower, const std::string& name, const std::string& where) {
    const auto below = look(lower, name);
    changes.push_back(
        {.path = where, .kind = Kind::deleted, .before = below, .after = {}, .conflict = difference(manifest_.at(where), below)});
    if (!below.is_directory()) return {};
    HARN_TRY(inside, enter(lower, name));
    return all_deleted(inside.get(), where);
  }

  const Manifest& manifest_;
};

Result<bool> same_tree(int upper, int lower);

// Both have the name, of the same kind, mode and content, with everything beneath.
Result<bool> same_entry(int upper, int lower, const std::string& name) {
  const auto above = look(upper, name);
  const auto below = look(lower, name);
  if (above.is_link() ? !below.is_link() : above.mode != below.mode) return false;
  if (!above.is_directory()) return same_content(upper, name, lower, name);
  HARN_TRY(next, enter(upper, name));
  HARN_TRY(inside, enter(lower, name));
  return same_tree(next.get(), inside.get());
}

Result<bool> same_tree(int upper, int lower) {
  HARN_TRY(ours, sys::list_entries(upper, most_names));
  HARN_TRY(theirs, sys::list_entries(lower, most_names));
  if (!std::ranges::equal(ours, theirs, {}, &sys::Entry::name, &sys::Entry::name)) return false;
  for (const auto& entry : ours) {
    HARN_TRY(same, same_entry(upper, lower, entry.name));
    if (!same) return false;
  }
  return true;
}

// A copy holds everything: what differs from how it was made is what commands did, and nothing shines through.
class CopyFinder {
 public:
  CopyFinder(const Manifest& manifest, const Manifest& copied) : manifest_(manifest), copied_(copied) {}

  // `copy` and `lower` are -1 where there is no such directory.
  Status directory(int copy, int lower, const std::string& path) {
    if (copy >= 0) {
      HARN_TRY(entries, sys::list_entries(copy, most_names));
      for (const auto& entry : entries) HARN_OK(name(copy, lower, entry.name, joined(path, entry.name)));
    }
    if (lower < 0) return {};
    HARN_TRY(originals, sys::list_entries(lower, most_names));
    for (const auto& entry : originals) {
      const auto where = joined(path, entry.name);
      const bool stays = copy >= 0 && look(copy, entry.name).exists();
      // What was never copied was made on the host since, or cannot be copied.
      if (!stays && copied_.at(where).exists()) HARN_OK(deleted(lower, entry.name, where));
    }
    return {};
  }

  std::vector<Change> changes;

 private:
  Status name(int copy, int lower, const std::string& name, const std::string& where) {
    const auto above = look(copy, name);
    const auto below = lower < 0 ? State{} : look(lower, name);
    const auto made = copied_.at(where);
    if (!above.exists()) return {};
    if (above != made) {
      Change change{.path = where, .before = below, .after = above, .conflict = difference(manifest_.at(where), below)};
      HARN_TRY(different, settle_kind(copy, lower, name, change));
      if (different) changes.push_back(std::move(change));
    }
    if (!above.is_directory() && !(below.is_directory() && made.is_directory())) return {};
    sys::UniqueFd next;
    sys::UniqueFd inside;
    if (above.is_directory()) {
      HARN_TRY(opened, enter(copy, name));
      next = std::move(opened);
    }
    if (below.is_directory()) {
      HARN_TRY(opened, enter(lower, name));
      inside = std::move(opened);
    }
    return directory(next ? next.get() : -1, inside ? inside.get() : -1, where);
  }

  Status deleted(int lower, const std::string& name, const std::string& where) {
    const auto below = look(lower, name);
    changes.push_back(
        {.path = where, .kind = Kind::deleted, .before = below, .after = {}, .conflict = difference(manifest_.at(where), below)});
    if (!below.is_directory()) return {};
    HARN_TRY(inside, enter(lower, name));
    return directory(-1, inside.get(), where);
  }

  const Manifest& manifest_;
  const Manifest& copied_;
};

class Settler {
 public:
  // True when the layer's directory is empty now.
  Result<bool> directory(int upper, int lower) {
    HARN_TRY(entries, sys::list_entries(upper, most_names));
    bool empty = true;
    for (const auto& entry : entries) {
      HARN_TRY(gone, name(upper, lower, entry.name));
      empty = empty && gone;
    }
    return empty;
  }

 private:
  static Result<bool> removed(int upper, const std::string& name, int flags) {
    if (::unlinkat(upper, name.c_str(), flags) != 0 && errno != ENOENT) return fail(sys::os_failure("unlink", name, errno));
    return true;
  }

  Result<bool> name(int upper, int lower, const std::string& name) {
    const auto below = look(lower, name);
    if (is_whiteout(upper, name)) return below.exists() ? Result<bool>(false) : removed(upper, name, 0);
    const auto above = look(upper, name);
    if (!below.exists()) return false;
    if (above.is_directory() && below.is_directory()) return one_directory(upper, lower, name, above.mode == below.mode);
    HARN_TRY(same, same_entry(upper, lower, name));
    return same ? removed(upper, name, 0) : Result<bool>(false);
  }

  // One that covers the host's goes as a whole or not at all: what it no longer held would be gone for commands.
  Result<bool> one_directory(int upper, int lower, const std::string& name, bool same_mode) {
    HARN_TRY(next, enter(upper, name));
    HARN_TRY(inside, enter(lower, name));
    if (is_opaque(next.get())) {
      HARN_TRY(same, same_tree(next.get(), inside.get()));
      if (!same || ::fremovexattr(next.get(), "user.overlay.opaque") != 0) return false;
    }
    HARN_TRY(empty, directory(next.get(), inside.get()));
    return empty && same_mode ? removed(upper, name, AT_REMOVEDIR) : Result<bool>(false);
  }
};

}  // namespace

Result<std::vector<Change>> find_changes(const Layer& layer, const Manifest& manifest) {
  HARN_TRY(upper, open_tree(layer.upper));
  HARN_TRY(lower, open_tree(layer.root));
  if (layer.copied) {
    HARN_TRY(copied, Manifest::load(*layer.copied));
    CopyFinder finder(manifest, copied);
    HARN_OK(finder.directory(upper.get(), lower.get(), ""));
    std::ranges::sort(finder.changes, {}, &Change::path);
    return std::move(finder.changes);
  }
  Finder finder(manifest);
  HARN_OK(finder.directory(upper.get(), lower.get(), "", /*cut=*/false));
  std::ranges::sort(finder.changes, {}, &Change::path);
  return std::move(finder.changes);
}

Result<bool> drop_settled(const Layer& layer) {
  // A copy stays whole: it is what the next command works on.
  if (layer.copied) {
    HARN_TRY(manifest, Manifest::load(layer.manifest));
    HARN_TRY(left, find_changes(layer, manifest));
    return left.empty();
  }
  HARN_TRY(upper, open_tree(layer.upper));
  HARN_TRY(lower, open_tree(layer.root));
  return Settler().directory(upper.get(), lower.get());
}

}  // namespace harn::workspace
