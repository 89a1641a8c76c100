// SPDX-License-Identifier: Apache-2.0
// What stands at a path, as far as the file system tells without reading it. The time of the last change
// of an inode cannot be set, so two equal states are the same file with the same content.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "harn/path.h"
#include "harn/result.h"
#include "sys/unique_fd.h"

namespace harn::workspace {

struct State {
  std::uint32_t mode = 0;  // st_mode; 0 = nothing is there
  std::uint64_t size = 0;
  std::uint64_t inode = 0;
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;

  bool exists() const { return mode != 0; }
  bool is_directory() const;
  bool is_file() const;
  bool is_link() const;
  // Everything a rename leaves as it is.
  bool same_file(const State& other) const;
  bool operator==(const State&) const = default;
};

// The name itself; a link is a link. Whatever cannot be looked at counts as nothing.
State look(int directory, const std::string& name);

struct Split {
  std::string parent = {};  // "" = the root of the tree
  std::string name = {};
};
Split split_path(std::string_view path);

// A directory of the tree, reached without following a single link.
Result<sys::UniqueFd> open_beneath(int root, const std::string& path);
Result<sys::UniqueFd> open_tree(const AbsPath& root);

}  // namespace harn::workspace
