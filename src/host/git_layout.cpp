// SPDX-License-Identifier: Apache-2.0
#include "host/git_layout.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "sys/files.h"

namespace harn::host {
namespace {

constexpr std::size_t longest_pointer = 8192;
constexpr std::size_t most_alternates = 32;

// A path written in a file of git's: absolute, or relative to `base`. Links resolved.
std::optional<AbsPath> pointed_at(std::string_view text, const AbsPath& base) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  if (text.empty() || text.find('\n') != std::string_view::npos) return std::nullopt;
  const auto path = AbsPath::parse(looks_absolute(text) ? std::string(text) : fmt::format("{}/{}", base.text(), text));
  if (!path) return std::nullopt;
  auto real = sys::real_path(*path);
  if (!real) return std::nullopt;
  return std::move(*real);
}

std::optional<AbsPath> pointer_in(const AbsPath& file, const AbsPath& base) {
  const auto text = sys::read_file(file, longest_pointer);
  return text ? pointed_at(*text, base) : std::nullopt;
}

std::optional<AbsPath> claimed_git_dir(const AbsPath& dot_git) {
  static constexpr std::string_view prefix = "gitdir: ";
  const auto text = sys::read_file(dot_git, longest_pointer);
  if (!text || !text->starts_with(prefix)) return std::nullopt;
  return pointed_at(std::string_view(*text).substr(prefix.size()), dot_git.parent());
}

bool is_directory(const AbsPath& path) { return sys::type_of(path) == sys::FileType::directory; }

bool is_repository(const AbsPath& path) {
  return is_directory(path.join("objects")) && is_directory(path.join("refs")) && sys::type_of(path.join("HEAD")) == sys::FileType::file;
}

// Only for a note to the operator: the list may be the work of an earlier command. So nothing but an
// object store is named, and none on the word of a repository that lies inside the work tree itself.
std::vector<AbsPath> find_alternates(const AbsPath& common_dir, const AbsPath& work_tree) {
  std::vector<AbsPath> found;
  if (work_tree.contains(common_dir)) return found;
  const auto objects = common_dir.join("objects");
  const auto text = sys::read_file(objects.join("info/alternates"), most_alternates * longest_pointer);
  if (!text) return found;
  for (const auto line : base::split(*text, '\n')) {
    if (line.empty() || line.starts_with('#') || found.size() == most_alternates) continue;
    const auto store = pointed_at(line, objects);
    const bool plausible = store && store->name() == "objects" && is_directory(store->join("info")) && is_directory(store->join("pack"));
    if (plausible && std::ranges::find(found, *store) == found.end()) found.push_back(*store);
  }
  std::ranges::sort(found);
  return found;
}

std::string not_believed(const AbsPath& dot_git, std::string_view why) {
  return fmt::format("{} names a git directory that {}: it stays closed", base::quoted(dot_git.text()), why);
}

constexpr std::size_t most_inside = 64;
constexpr int deepest_module = 6;  // submodules have paths for names

void add_other_work_trees(const AbsPath& git_dir, std::vector<AbsPath>& out) {
  const auto place = git_dir.join("worktrees");
  if (!is_directory(place)) return;
  const auto names = sys::list_directory(place, most_inside);
  if (!names) return out.push_back(place);
  for (const auto& name : *names)
    for (const auto* file : {"commondir", "gitdir", "config.worktree"}) out.push_back(place.join(name).join(file));
}

// False when there is more than can be named.
bool add_modules_in(const AbsPath& place, int depth, std::size_t& left, std::vector<AbsPath>& out) {
  if (!is_directory(place)) return true;
  const auto names = sys::list_directory(place, most_inside);
  if (!names || depth == deepest_module) return false;
  for (const auto& name : *names) {
    const auto here = place.join(name);
    if (!is_directory(here)) continue;
    if (left == 0) return false;
    --left;
    const bool module = sys::type_of(here.join("HEAD")) == sys::FileType::file;
    if (module)
      for (const auto* file : {"hooks", "config", "config.worktree", "commondir", "objects/info/alternates"})
        out.push_back(here.join(file));
    if (!add_modules_in(module ? here.join("modules") : here, depth + 1, left, out)) return false;
  }
  return true;
}

}  // namespace

std::vector<AbsPath> trusted_beneath(const AbsPath& git_dir) {
  std::vector<AbsPath> modules;
  std::size_t left = most_inside;
  const auto place = git_dir.join("modules");
  if (!add_modules_in(place, 0, left, modules)) modules = {place};
  add_other_work_trees(git_dir, modules);
  return modules;
}

GitFinding find_git_layout(const AbsPath& work_tree) {
  const auto dot_git = work_tree.join(".git");
  if (sys::type_of(dot_git) != sys::FileType::file) return {};
  const auto git_dir = claimed_git_dir(dot_git);
  if (!git_dir || !is_directory(*git_dir)) return {.note = not_believed(dot_git, "does not exist")};

  const auto back = pointer_in(git_dir->join("gitdir"), *git_dir);
  const auto here = sys::real_path(dot_git);
  if (!back || !here || *back != *here) return {.note = not_believed(dot_git, "does not point back")};

  const auto common_dir = pointer_in(git_dir->join("commondir"), *git_dir);
  if (!common_dir || git_dir->parent() != common_dir->join("worktrees") || !is_repository(*common_dir))
    return {.note = not_believed(dot_git, "is not a worktree of its repository")};

  return {
      .layout = GitLayout{
          .work_tree = work_tree, .git_dir = *git_dir, .common_dir = *common_dir, .alternates = find_alternates(*common_dir, work_tree)}};
}

std::optional<GitLayout> find_nested_repository(const AbsPath& directory) {
  auto git_dir = directory.join(".git");
  if (sys::type_of(git_dir) == sys::FileType::file) {
    // A submodule's or a worktree's: the file says where the directory is.
    auto claimed = claimed_git_dir(git_dir);
    if (!claimed) return std::nullopt;
    git_dir = std::move(*claimed);
  }
  // Whether it is complete does not matter: the command could complete it later.
  if (!is_directory(git_dir)) return std::nullopt;
  return GitLayout{.work_tree = directory, .git_dir = git_dir, .common_dir = git_dir};
}

}  // namespace harn::host
