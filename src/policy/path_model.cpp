// SPDX-License-Identifier: Apache-2.0
#include "policy/path_model.h"

#include <algorithm>

#include "policy/presets.h"

namespace harn::policy {

std::string_view parent_text(std::string_view path) {
  if (path.empty() || path.back() == '/') return {};  // "/" and "C:/" have no parent
  const auto cut = path.rfind('/');
  const auto root_size = path.front() == '/' ? std::size_t{1} : std::size_t{3};
  return path.substr(0, std::max(cut, root_size));
}

PathValue meet(PathValue a, PathValue b) { return {std::min(a.file, b.file), std::min(a.process, b.process)}; }

PathModel::PathModel(const Policy& policy) {
  const auto& sandbox = policy.process_sandbox;
  rules_.reserve(entries(policy.workspace_roots).size() + entries(policy.read_only_roots).size() + entries(sandbox.read_roots).size() +
                 entries(sandbox.write_roots).size() + sandbox.read_deny_roots.size());
  for (const auto& path : entries(policy.workspace_roots)) add_workspace(path);
  for (const auto& path : entries(policy.read_only_roots)) add_read_only(path);
  for (const auto& path : entries(sandbox.read_roots)) add_process_read(path);
  for (const auto& path : entries(sandbox.write_roots)) add_process_write(path);
  for (const auto& path : sandbox.read_deny_roots) add_deny(path);
  for (const auto& path : entries(policy.unprotect)) add_unprotect(path);
}

PathModel::Lists& PathModel::at(const AbsPath& path) {
  auto& lists = rules_[path.text()];
  if (lists.path == nullptr) lists.path = &path;
  return lists;
}

const PathModel::Lists* PathModel::find(std::string_view path) const {
  const auto it = rules_.find(path);
  return it == rules_.end() ? nullptr : &it->second;
}

void PathModel::add_workspace(const AbsPath& path) { at(path).workspace = has_writable_ = true; }
void PathModel::add_read_only(const AbsPath& path) { at(path).read_only = true; }
void PathModel::add_process_read(const AbsPath& path) { at(path).process_read = true; }
void PathModel::add_process_write(const AbsPath& path) { at(path).process_write = has_writable_ = true; }
void PathModel::add_deny(const AbsPath& path) { at(path).deny = true; }
void PathModel::add_unprotect(const AbsPath& path) { unprotect_.emplace(path.text(), &path); }

Ruled PathModel::process_ruling(const Lists& lists) {
  if (lists.deny) return Ruled::deny;
  return lists.workspace || lists.process_write ? Ruled::write : Ruled::read;
}

PathValue PathModel::value(std::string_view path) const {
  std::optional<Ruled> process;
  std::optional<Access> file;
  for (auto at = path; !at.empty() && !(file && process); at = parent_text(at)) {
    const auto* lists = find(at);
    if (lists == nullptr) continue;
    if (!process) process = process_ruling(*lists);
    if (file || !(lists->deny || lists->workspace || lists->read_only)) continue;
    file = lists->deny ? Access::none : lists->workspace ? Access::write : Access::read;
  }
  PathValue value;
  value.process = process.value_or(value.process);
  value.file = file.value_or(value.file);
  if (is_protected(path)) value = meet(value, {Access::read, Ruled::read});
  const auto bound = value.process == Ruled::write ? Access::write : value.process == Ruled::read ? Access::read : Access::none;
  value.file = std::min(value.file, bound);
  return value;
}

Origin PathModel::origin(std::string_view path) const {
  if (is_protected(path) && value(path).process == Ruled::read) return Origin::protected_;
  for (auto at = path; !at.empty(); at = parent_text(at)) {
    const auto* lists = find(at);
    if (lists == nullptr) continue;
    if (lists->deny) return Origin::deny;
    if (lists->workspace) return Origin::workspace;
    if (lists->process_write) return Origin::process_write;
    return lists->read_only ? Origin::read_only : Origin::process_read;
  }
  return Origin::nothing;
}

bool PathModel::is_writable_root(std::string_view path) const {
  const auto* lists = find(path);
  return lists != nullptr && (lists->workspace || lists->process_write);
}

bool PathModel::is_unprotected(std::string_view path) const {
  if (unprotect_.empty()) return false;
  for (auto at = path; !at.empty(); at = parent_text(at))
    if (unprotect_.contains(at)) return true;
  return false;
}

bool PathModel::is_protected(std::string_view path) const {
  if (!has_writable_) return false;
  for (auto root = parent_text(path); !root.empty(); root = parent_text(root)) {
    if (!is_writable_root(root)) continue;
    const auto rest = path.substr(root.size() + (root.back() == '/' ? 0 : 1));
    if (is_protected_below(rest)) return !is_unprotected(path);
  }
  return false;
}

std::vector<AbsPath> PathModel::ruled_paths() const {
  std::vector<AbsPath> paths;
  for (const auto& [text, lists] : rules_) paths.push_back(*lists.path);
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<AbsPath> PathModel::writable_roots() const {
  std::vector<AbsPath> paths;
  if (!has_writable_) return paths;
  for (const auto& [text, lists] : rules_)
    if (lists.workspace || lists.process_write) paths.push_back(*lists.path);
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<AbsPath> PathModel::unprotected_paths() const {
  std::vector<AbsPath> paths;
  for (const auto& [text, path] : unprotect_) paths.push_back(*path);
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace harn::policy
