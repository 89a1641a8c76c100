// SPDX-License-Identifier: Apache-2.0
#include "workspace/patch.h"

#include <optional>

#include <fmt/format.h>

#include "sys/files.h"
#include "workspace/line_diff.h"

namespace harn::workspace {
namespace {

constexpr std::uint64_t longest_shown = 1u << 20;

// Nothing: too long to be shown.
Result<std::optional<std::string>> content_of(const AbsPath& tree, const std::string& path, const State& state) {
  if (!state.exists() || state.is_directory()) return std::optional<std::string>("");
  if (state.size > longest_shown) return std::optional<std::string>();
  HARN_TRY(root, open_tree(tree));
  const auto at = split_path(path);
  HARN_TRY(parent, open_beneath(root.get(), at.parent));
  if (state.is_link()) {
    HARN_TRY(text, sys::link_text(parent.get(), at.name));
    return std::optional<std::string>(std::move(text));
  }
  if (!state.is_file()) return std::optional<std::string>();
  HARN_TRY(text, sys::read_file(parent.get(), at.name, longest_shown));
  return std::optional<std::string>(std::move(text));
}

// Git knows links and whether a file may be run, and nothing else.
std::string mode_text(const State& state) {
  if (state.is_link()) return "120000";
  return (state.mode & 0111u) != 0 ? "100755" : "100644";
}

// Between patches git takes such lines for words.
std::string remark(std::string_view name, const State& before, const State& after) {
  const auto permissions = [](const State& state) { return state.mode & 07777u; };
  if (!before.exists()) return fmt::format("# {} is a new directory\n", name);
  if (!after.exists()) return fmt::format("# {} is a directory that goes\n", name);
  return fmt::format("# {} has the permissions {:04o}, and had {:04o}\n", name, permissions(after), permissions(before));
}

bool git_sees_nothing(const Change& change) {
  const bool directories =
      (!change.before.exists() || change.before.is_directory()) && (!change.after.exists() || change.after.is_directory());
  return directories || (change.kind == Kind::mode && mode_text(change.before) == mode_text(change.after));
}

bool changes_type(const State& before, const State& after) {
  return before.exists() && after.exists() && (before.is_link() != after.is_link() || before.is_directory() != after.is_directory());
}

}  // namespace

std::string rename_text(std::string_view before, std::string_view now) {
  return fmt::format("diff --git a/{0} b/{1}\nsimilarity index 100%\nrename from {0}\nrename to {1}\n", before, now);
}

Result<std::string> patch_of(const Layer& layer, const Change& change, std::string_view name) {
  const auto& [path, kind, before, after, conflict] = change;
  if (git_sees_nothing(change)) return remark(name, before, after);
  if (changes_type(before, after)) {
    HARN_TRY(gone, patch_of(layer, {.path = path, .kind = Kind::deleted, .before = before, .after = {}, .conflict = {}}, name));
    HARN_TRY(come, patch_of(layer, {.path = path, .kind = Kind::added, .before = {}, .after = after, .conflict = {}}, name));
    return gone + come;
  }
  std::string out = fmt::format("diff --git a/{0} b/{0}\n", name);
  if (!before.exists()) out += fmt::format("new file mode {}\n", mode_text(after));
  else if (!after.exists()) out += fmt::format("deleted file mode {}\n", mode_text(before));
  else if (mode_text(before) != mode_text(after)) out += fmt::format("old mode {}\nnew mode {}\n", mode_text(before), mode_text(after));
  if (kind == Kind::mode) return out;
  HARN_TRY(old_text, content_of(layer.root, path, before));
  HARN_TRY(new_text, content_of(layer.upper, path, after));
  const auto old_name = before.exists() ? fmt::format("a/{}", name) : std::string("/dev/null");
  const auto new_name = after.exists() ? fmt::format("b/{}", name) : std::string("/dev/null");
  if (!old_text || !new_text || !is_text(*old_text) || !is_text(*new_text))
    return out + fmt::format("Binary files {} and {} differ\n", old_name, new_name);
  const auto body = unified_diff(*old_text, *new_text);
  if (body.empty()) return out;
  return out + fmt::format("--- {}\n+++ {}\n", old_name, new_name) + body;
}

}  // namespace harn::workspace
