// SPDX-License-Identifier: Apache-2.0
#include "workspace/pending.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "sys/files.h"
#include "sys/remove_tree.h"
#include "workspace/copy_tree.h"

namespace harn::workspace {
namespace {

constexpr std::size_t longest_list = 1u << 20;

AbsPath layer_place(const AbsPath& place, std::size_t number) { return place.join(std::to_string(number)); }

AbsPath copied_file(const AbsPath& place, std::size_t number) { return layer_place(place, number).join("copied"); }

Layer layer_at(const AbsPath& place, std::size_t number, AbsPath root) {
  const auto own = layer_place(place, number);
  Layer out{.root = std::move(root), .upper = own.join("upper"), .manifest = own.join("manifest")};
  if (auto copied = copied_file(place, number); sys::type_of(copied) == sys::FileType::file) out.copied = std::move(copied);
  return out;
}

// What was put into the tree is what the copy is measured by from now on.
Status settle_copy(const Layer& layer, const std::vector<std::string>& paths, const std::vector<Change>& left) {
  const sys::UniqueFd record(::open(layer.copied->text().c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW));
  if (!record) return fail(sys::os_failure("open", layer.copied->text(), errno));
  HARN_TRY(copied, Manifest::load(*layer.copied));
  HARN_TRY(tree, open_tree(layer.upper));
  for (const auto& path : paths) {
    if (std::ranges::find(left, path, &Change::path) != left.end()) continue;
    const auto at = split_path(path);
    const auto parent = open_beneath(tree.get(), at.parent);
    HARN_OK(copied.put(record.get(), path, parent ? look(parent->get(), at.name) : State{}));
  }
  return {};
}

// A directory without rights, as overlayfs leaves one, is opened up first.
void remove_all(const AbsPath& path) {
  const sys::UniqueFd directory(::open(path.text().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (directory) std::ignore = sys::empty_directory(directory.get());
  ::rmdir(path.text().c_str());
}

}  // namespace

void forget_place(const AbsPath& place) { remove_all(place); }

Result<Pending> Pending::hold(const AbsPath& place) {
  sys::UniqueFd lock(::open(place.join("lock").text().c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) return fail(sys::os_failure("open", place.join("lock").text(), errno));
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    return fail(Error{.code = ErrorCode::refused,
                      .stage = Stage::prepare,
                      .message = "another command is at work on the pending changes of this project",
                      .hint = "wait until it has ended"});
  return Pending(place, std::move(lock));
}

Result<Pending> Pending::begin(const AbsPath& place, const std::vector<AbsPath>& roots, const TryLayer& can_lie) {
  HARN_OK(sys::make_directories(place));
  HARN_TRY(pending, hold(place));
  HARN_OK(pending.read_roots());
  for (std::size_t i = 0; i < roots.size(); ++i) {
    if (i == pending.layers_.size()) HARN_OK(pending.add(roots[i], can_lie));
    if (pending.layers_[i].root == roots[i]) continue;
    return fail(Error{.code = ErrorCode::refused,
                      .stage = Stage::prepare,
                      .message = fmt::format("changes of {} wait, and this command would work on {}",
                                             base::quoted(pending.layers_[i].root.text()), base::quoted(roots[i].text())),
                      .hint = "'harn apply' or 'harn discard' them first"});
  }
  return pending;
}

Result<std::optional<Pending>> Pending::open(const AbsPath& place) {
  if (sys::type_of(place.join("roots")) != sys::FileType::file) return std::optional<Pending>();
  HARN_TRY(pending, hold(place));
  HARN_OK(pending.read_roots());
  return std::optional<Pending>(std::move(pending));
}

Status Pending::read_roots() {
  auto text = sys::read_file(place_.join("roots"), longest_list);
  if (!text) return text.error().os_error == ENOENT ? Status() : fail(std::move(text).error());
  for (const auto line : base::split(*text, '\0')) {
    if (line.empty()) continue;
    HARN_TRY(root, AbsPath::parse(line));
    layers_.push_back(layer_at(place_, layers_.size(), std::move(root)));
  }
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (sys::type_of(note(i)) == sys::FileType::missing) continue;
    HARN_TRY(manifest, Manifest::load(layers_[i].manifest));
    HARN_OK(recover(layers_[i], manifest, note(i)));
  }
  return {};
}

Status Pending::write_roots() const {
  std::string text;
  for (const auto& layer : layers_) (text += layer.root.text()) += '\0';
  return sys::replace_file(place_.join("roots"), text);
}

// It counts once its root is listed; what an interruption left before that is made again.
Status Pending::add(const AbsPath& root, const TryLayer& can_lie) {
  const auto number = layers_.size();
  remove_all(layer_place(place_, number));
  auto layer = layer_at(place_, number, root);
  HARN_OK(sys::make_directories(layer.upper));
  HARN_OK(sys::make_directories(layer_place(place_, number).join("work")));
  // The layer's own directory is what commands see of the tree's.
  struct stat status = {};
  if (::stat(root.text().c_str(), &status) != 0) return fail(sys::os_failure("stat", root.text(), errno));
  if (::chmod(layer.upper.text().c_str(), status.st_mode & 07777) != 0) return fail(sys::os_failure("chmod", layer.upper.text(), errno));
  HARN_TRY(manifest, Manifest::take(root));
  HARN_OK(manifest.save(layer.manifest));
  if (can_lie && !can_lie(root, layer_place(place_, number))) {
    HARN_OK(copy_tree(root, layer.upper));
    HARN_TRY(copied, Manifest::take(layer.upper));
    layer.copied = copied_file(place_, number);
    HARN_OK(copied.save(*layer.copied));
  }
  layers_.push_back(std::move(layer));
  return write_roots();
}

AbsPath Pending::note(std::size_t layer) const { return layer_place(place_, layer).join("applying"); }

Result<std::vector<Pending::Found>> Pending::changes() const {
  std::vector<Found> out;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    HARN_TRY(manifest, Manifest::load(layers_[i].manifest));
    HARN_TRY(found, find_changes(layers_[i], manifest));
    for (auto& change : found) out.push_back({i, std::move(change)});
  }
  return out;
}

Result<Pending::Outcome> Pending::apply(std::vector<Found> chosen, bool in_use) {
  Outcome out;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    std::vector<Change> here;
    for (auto& found : chosen)
      if (found.layer == i) here.push_back(std::move(found.change));
    if (here.empty()) continue;
    std::vector<std::string> paths;
    if (layers_[i].copied)
      for (const auto& change : here) paths.push_back(change.path);
    HARN_TRY(manifest, Manifest::load(layers_[i].manifest));
    HARN_TRY(applied, apply_changes(layers_[i], manifest, std::move(here), note(i)));
    out.done += applied.done;
    if (layers_[i].copied) HARN_OK(settle_copy(layers_[i], paths, applied.left));
    for (auto& left : applied.left) out.left.push_back({i, std::move(left)});
    if (in_use) continue;
    HARN_TRY(ignored, drop_settled(layers_[i]));
    std::ignore = ignored;
  }
  return out;
}

Result<bool> Pending::is_empty() const {
  for (const auto& layer : layers_) {
    if (layer.copied) {
      HARN_TRY(settled, drop_settled(layer));
      if (!settled) return false;
      continue;
    }
    HARN_TRY(names, sys::list_directory(layer.upper, 1'000'000));
    if (!names.empty()) return false;
  }
  return true;
}

Status Pending::discard() {
  const auto gone = place_.parent().join(std::string(place_.name()) + ".gone");
  remove_all(gone);
  if (::rename(place_.text().c_str(), gone.text().c_str()) != 0) return fail(sys::os_failure("rename", place_.text(), errno));
  remove_all(gone);
  layers_.clear();
  return {};
}

}  // namespace harn::workspace
