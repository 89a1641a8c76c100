// SPDX-License-Identifier: Apache-2.0
#include "workspace/renames.h"

#include <algorithm>
#include <set>

#include "base/sha256.h"
#include "sys/files.h"

namespace harn::workspace {
namespace {

constexpr std::uint64_t longest_compared = 64u << 20;

bool has_content(const State& state) { return state.is_file() && state.size > 0 && state.size <= longest_compared; }

// Only of sizes that both sides have; a file that went meanwhile is nobody's old name.
std::string digest_of(int tree, const std::string& path, const State& state) {
  const auto at = split_path(path);
  const auto parent = open_beneath(tree, at.parent);
  if (!parent) return {};
  const auto text = sys::read_file(parent->get(), at.name, state.size);
  return text ? std::to_string(state.mode) + base::sha256_hex(*text) : std::string();
}

}  // namespace

Result<std::map<std::string, std::string>> find_renames(const Layer& layer, const std::vector<Change>& changes) {
  std::map<std::string, std::string> out;
  std::set<std::uint64_t> gone_sizes;
  std::set<std::uint64_t> new_sizes;
  for (const auto& change : changes) {
    if (change.kind == Kind::deleted && has_content(change.before)) gone_sizes.insert(change.before.size);
    if (change.kind == Kind::added && has_content(change.after)) new_sizes.insert(change.after.size);
  }
  if (gone_sizes.empty() || new_sizes.empty()) return out;
  HARN_TRY(lower, open_tree(layer.root));
  HARN_TRY(upper, open_tree(layer.upper));
  std::map<std::string, std::vector<std::string>> gone;  // by content, the first name last
  for (const auto& change : changes) {
    if (change.kind != Kind::deleted || !has_content(change.before) || !new_sizes.contains(change.before.size)) continue;
    if (auto digest = digest_of(lower.get(), change.path, change.before); !digest.empty()) gone[digest].push_back(change.path);
  }
  for (auto& [digest, paths] : gone) std::ranges::reverse(paths);
  for (const auto& change : changes) {
    if (change.kind != Kind::added || !has_content(change.after) || !gone_sizes.contains(change.after.size)) continue;
    const auto found = gone.find(digest_of(upper.get(), change.path, change.after));
    if (found == gone.end() || found->second.empty()) continue;
    // Of several with the same content the one of the same name, wherever it stood.
    auto& paths = found->second;
    const auto name = split_path(change.path).name;
    auto old = std::ranges::find_if(paths, [&](const std::string& path) { return split_path(path).name == name; });
    if (old == paths.end()) old = std::prev(paths.end());
    out.emplace(change.path, std::move(*old));
    paths.erase(old);
  }
  return out;
}

}  // namespace harn::workspace
