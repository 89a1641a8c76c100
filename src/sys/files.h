// SPDX-License-Identifier: Apache-2.0
// Looking at files: one wrapper per question, errors that name the call and the path. Nothing here
// follows a policy or decides one.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harn/path.h"
#include "harn/result.h"
#include "sys/unique_fd.h"

namespace harn::sys {

enum class FileType : std::uint8_t {
  missing,
  directory,
  file,
  link,
  device,
  socket,
  other
};

FileType type_from(mode_t mode);

// The path itself; a symbolic link is a link.
FileType type_of(const AbsPath& path);
// What the path leads to; a link into nothing is missing.
FileType target_type_of(const AbsPath& path);

// Nothing is there, for certain: a path that this process may not look at may exist.
bool is_known_absent(const AbsPath& path);

// What the path leads to and where that really is, asked together: plans look at hundreds of paths.
struct Found {
  FileType type = FileType::missing;
  AbsPath real = {};  // unset (the root) when missing
  // Another user's, and no right of this process lets it read, execute or enter it. What is ours could
  // be unlocked by us.
  bool locked = false;
};
Found find(const AbsPath& path);
// What `locked` says, of a path that is no link.
bool is_locked(const AbsPath& path, const struct stat& status);

// Every link resolved. The error's os_error tells a missing path (ENOENT) from a loop (ELOOP).
Result<AbsPath> real_path(const AbsPath& path);

// What a symbolic link says, as it stands.
Result<std::string> link_text(const AbsPath& path);
Result<std::string> link_text(int directory, const std::string& name);

// The whole regular file, or an error when it is none or longer than `max_bytes`. Never waits on a pipe.
Result<std::string> read_file(const AbsPath& path, std::size_t max_bytes);
// The same for a name in a directory, where a link is no regular file.
Result<std::string> read_file(int directory, const std::string& name, std::size_t max_bytes);

// What a directory says about a name in it.
struct Entry {
  std::string name = {};
  FileType type = FileType::missing;  // of the name itself; `other` also where the file system does not tell
};

// Sorted by name, at most `max_names`; a longer directory is an error.
Result<std::vector<Entry>> list_entries(const AbsPath& path, std::size_t max_names);
Result<std::vector<Entry>> list_entries(int directory, std::size_t max_names);  // every time from its first name
// The names alone.
Result<std::vector<std::string>> list_directory(const AbsPath& path, std::size_t max_names);

// For reading; what happens to its mode afterwards does not matter to the descriptor.
Result<UniqueFd> open_directory(const AbsPath& path);
// As a place for names alone, where the system can hold one that may not be read.
Result<UniqueFd> hold_directory(const AbsPath& path);
// A name in a directory that is held; empty with errno where it is a link, or no directory.
UniqueFd hold_directory_in(int directory, const std::string& name);
// A directory that is held, for reading and locking; empty with errno.
UniqueFd open_held(int directory);
// Every time from its first name.
Result<std::vector<std::string>> list_directory(int directory, std::size_t max_names);

// Whether this process may run the regular file, or write into the directory, by its own rights.
bool is_executable(const AbsPath& path);
bool is_writable_directory(const AbsPath& path);

// A regular file (or link to one) that belongs to this user, to root, or to the owner of its directory: not one that a
// stranger dropped into a shared directory.
bool is_entitled_file(const AbsPath& path);
// The same for whatever is at the path itself.
bool is_entitled(const AbsPath& path);

// Puts `text` in place of the file in one step, readable by its owner only; makes missing directories.
Status replace_file(const AbsPath& path, std::string_view text);
// The same for a name in a directory that is held.
Status replace_file(int directory, const std::string& name, std::string_view text);

// With everything missing above it, for its owner only; there already is no error.
Status make_directories(const AbsPath& path);

// Whether that would work now, found out by making and removing a file beside it.
Status try_replace_file(const AbsPath& path);

// All of it, whatever the descriptor is; 0 or an errno.
int write_all(int fd, std::string_view text);

// "open '/x' failed: No such file or directory", from errno.
Error os_failure(std::string_view call, std::string_view path, int error, Stage stage = Stage::load);

}  // namespace harn::sys
