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

std::string mode_text(const State& state) { return fmt::format("{:06o}", state.mode); }

}  // namespace

std::string rename_text(std::string_view before, std::string_view now) {
  return fmt::format("diff --git a/{0} b/{1}\nsimilarity index 100%\nrename from {0}\nrename to {1}\n", before, now);
}

Result<std::string> patch_of(const Layer& layer, const Change& change, std::string_view name) {
  const auto& [path, kind, before, after, conflict] = change;
  std::string out = fmt::format("diff --git a/{0} b/{0}\n", name);
  if (!before.exists()) out += fmt::format("new file mode {}\n", mode_text(after));
  else if (!after.exists()) out += fmt::format("deleted file mode {}\n", mode_text(before));
  else if (before.mode != after.mode) out += fmt::format("old mode {}\nnew mode {}\n", mode_text(before), mode_text(after));
  if (kind == Kind::mode) return out;
  HARN_TRY(old_text, content_of(layer.root, path, before));
  HARN_TRY(new_text, content_of(layer.upper, path, after));
  if (!old_text || !new_text || !is_text(*old_text) || !is_text(*new_text))
    return out + fmt::format("Binary files a/{0} and b/{0} differ\n", name);
  const auto body = unified_diff(*old_text, *new_text);
  if (body.empty()) return out;
  out += before.exists() ? fmt::format("--- a/{}\n", name) : std::string("--- /dev/null\n");
  out += after.exists() ? fmt::format("+++ b/{}\n", name) : std::string("+++ /dev/null\n");
  return out + body;
}

}  // namespace harn::workspace
