// SPDX-License-Identifier: Apache-2.0
#include "workspace/manifest.h"

#include <cstring>

#include <fmt/format.h>

#include "base/text.h"
#include "sys/files.h"
#include "workspace/walk.h"

namespace harn::workspace {
namespace {

constexpr std::size_t largest_file = std::size_t{1} << 31;

struct Head {
  State state = {};
  std::uint32_t length = 0;
  std::uint32_t reserved = 0;
};

void append(std::string& out, const std::string& path, const State& state) {
  Head head;
  std::memset(static_cast<void*>(&head), 0, sizeof head);
  head.state = state;
  head.length = static_cast<std::uint32_t>(path.size());
  out.append(reinterpret_cast<const char*>(&head), sizeof head);
  out += path;
}

}  // namespace

Result<Manifest> Manifest::take(const AbsPath& root) {
  Manifest out;
  HARN_TRY(tree, open_tree(root));
  HARN_OK(walk_tree(tree.get(), "", [&](const std::string& path, const State& state) { out.states_.insert_or_assign(path, state); }));
  return out;
}

Result<Manifest> Manifest::load(const AbsPath& file) {
  HARN_TRY(text, sys::read_file(file, largest_file));
  Manifest out;
  std::size_t at = 0;
  while (text.size() - at >= sizeof(Head)) {
    Head head;
    std::memcpy(static_cast<void*>(&head), text.data() + at, sizeof head);
    if (text.size() - at - sizeof head < head.length) break;
    out.states_.insert_or_assign(text.substr(at + sizeof head, head.length), head.state);
    at += sizeof head + head.length;
  }
  // The last record may be half written; its path is then compared by content.
  return out;
}

Status Manifest::save(const AbsPath& file) const {
  std::string text;
  for (const auto& [path, state] : states_) append(text, path, state);
  return sys::replace_file(file, text);
}

Status Manifest::put(int file, const std::string& path, const State& state) {
  states_.insert_or_assign(path, state);
  std::string record;
  append(record, path, state);
  if (const int error = sys::write_all(file, record); error != 0) return fail(sys::os_failure("write", "the manifest", error));
  return {};
}

State Manifest::at(const std::string& path) const {
  const auto found = states_.find(path);
  return found == states_.end() ? State{} : found->second;
}

}  // namespace harn::workspace
