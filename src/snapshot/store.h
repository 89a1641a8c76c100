// SPDX-License-Identifier: Apache-2.0
// Directories as they were at one moment. Contents are kept once under their hash; a snapshot is a list of names
// that refers to them, and exists from the moment its file does. A list that knows what a file looked like from
// outside when it was hashed need not read it again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harn/path.h"
#include "harn/result.h"

namespace harn::snapshot {

struct Tree {
  std::string name = {};  // "root", or the guest path of a mount
  AbsPath place = {};     // where it is on the host
};

enum class Type : char {
  directory = 'd',
  file = 'f',
  link = 'l'
};

struct Entry {
  std::string path = {};  // beneath its tree
  Type type = Type::file;
  unsigned mode = 0;
  std::uint64_t size = 0;
  std::int64_t changed_ns = 0;  // mtime
  std::int64_t touched_ns = 0;  // ctime
  std::uint64_t inode = 0;
  std::string content = {};  // hash of a file, text of a link

  bool operator==(const Entry&) const = default;
};

struct Listed {
  std::string tree = {};
  std::vector<Entry> entries = {};
};

struct Snapshot {
  std::string id = {};
  std::string session = {};
  std::uint64_t created_ms = 0;
  std::uint64_t bytes = 0;      // of all files
  std::uint64_t new_bytes = 0;  // of those that no earlier snapshot had
  std::uint64_t files = 0;
  std::vector<std::string> skipped = {};  // sockets, pipes and devices: nothing of them can be kept
  std::vector<Listed> trees = {};
};

std::string print_snapshot(const Snapshot& snapshot);
// Every line is covered by a hash at the end; a torn or changed file is an error.
Result<Snapshot> parse_snapshot(std::string_view text);

class Store {
 public:
  explicit Store(AbsPath place) : place_(std::move(place)) {}

  // `id` must not exist. `before`, where given, is what unchanged files are compared with.
  Result<Snapshot> take(const std::vector<Tree>& trees, Snapshot named, const Snapshot* before) const;
  Result<Snapshot> load(const std::string& id) const;
  Result<std::vector<std::string>> ids() const;
  Status remove(const std::string& id) const;  // contents nobody refers to any more go with it

  // Makes `to` what the tree was: what is not listed is removed, contents are checked against their hash
  // before they take a name.
  Status restore(const Listed& tree, const AbsPath& to) const;

 private:
  AbsPath list_of(const std::string& id) const { return place_.join("lists").join(id); }
  AbsPath place_;
};

}  // namespace harn::snapshot
