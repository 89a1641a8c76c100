// SPDX-License-Identifier: Apache-2.0
// Harn's own file operations: the in-process half of a policy, for hosts that let an agent read and
// write files without starting a command.
//
//   HARN_TRY(files, FileScope::open(policy, facts));
//   HARN_TRY(text, files.read_text("src/main.c"));
//   HARN_OK(files.write_text("notes/today.md", "…"));      // makes notes/ when it is missing
//
// A path is followed once, name by name, on descriptors; where it really ends is what is decided and
// what is touched, so there is no moment between the check and the use. process_sandbox opens nothing
// here. Inside a PolicyScope (harn/scope.h) its policy counts too. A refusal has the code `refused` and says `sandbox violation: …`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harn/policy.h"

namespace harn {

inline constexpr std::size_t default_max_read_bytes = 64u << 20;
inline constexpr std::size_t max_listed_names = 1u << 20;

enum class EntryKind : std::uint8_t {
  file,
  directory,
  link,
  other  // also where the file system does not tell
};

struct FileEntry {
  std::string name = {};
  EntryKind kind = EntryKind::other;  // of the name itself: a link is a link

  bool operator==(const FileEntry&) const = default;
};

class FileScope {
 public:
  // The facts must be of this host and have looked at the policy's paths. Relative paths start at the
  // facts' working directory.
  static Result<FileScope> open(const Policy& policy, const HostFacts& facts);

  // The whole regular file, byte by byte.
  Result<std::string> read_text(std::string_view path, std::size_t max_bytes = default_max_read_bytes) const;

  // Sorted by name.
  Result<std::vector<FileEntry>> list(std::string_view path) const;

  // Whether anything is there; a link into nothing is not.
  Result<bool> exists(std::string_view path) const;

  // Puts `text` in place of the file in one step, keeping its mode: a reader sees the old or the new, and
  // a full disk loses nothing. Missing directories are made.
  Status write_text(std::string_view path, std::string_view text) const;

  // A file, a link (never what it leads to) or an empty directory.
  Status remove(std::string_view path) const;

  // A directory with everything in it. Nothing is removed where something beneath may not be.
  Status remove_tree(std::string_view path) const;

 private:
  struct Scope;
  Result<std::shared_ptr<const Scope>> here() const;
  explicit FileScope(std::shared_ptr<const Scope> scope) : scope_(std::move(scope)) {}

  std::shared_ptr<const Scope> scope_;
};

}  // namespace harn
