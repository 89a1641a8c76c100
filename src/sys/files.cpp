// SPDX-License-Identifier: Apache-2.0
#include "sys/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>
#include <system_error>

#include <fmt/format.h>

#include "base/text.h"
#include "sys/random_number.h"
#include "sys/unique_fd.h"

namespace harn::sys {

FileType type_from(mode_t mode) {
  if (S_ISDIR(mode)) return FileType::directory;
  if (S_ISREG(mode)) return FileType::file;
  if (S_ISLNK(mode)) return FileType::link;
  if (S_ISCHR(mode) || S_ISBLK(mode)) return FileType::device;
  if (S_ISSOCK(mode)) return FileType::socket;
  return FileType::other;
}

int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

namespace {

// Takes the descriptor of an open that may have failed.
Result<std::string> read_all(const UniqueFd& opened, const std::string& path, std::size_t max_bytes) {
  if (!opened) return fail(os_failure("open", path, errno));
  const int fd = opened.get();
  struct stat status = {};
  if (::fstat(fd, &status) != 0) return fail(os_failure("fstat", path, errno));
  if (!S_ISREG(status.st_mode))
    return fail(Error{.code = ErrorCode::io, .stage = Stage::load, .message = fmt::format("{} is not a regular file", base::quoted(path))});
  std::string text;
  char block[4096];
  for (;;) {
    const auto got = ::read(fd, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(os_failure("read", path, errno));
    if (got == 0) return text;
    text.append(block, static_cast<std::size_t>(got));
    if (text.size() > max_bytes)
      return fail(Error{.code = ErrorCode::io,
                        .stage = Stage::load,
                        .message = fmt::format("the file {} is longer than {} bytes", base::quoted(path), max_bytes)});
  }
}

Status keep_all(int fd, const std::string& path, std::string_view text) {
  if (const int error = write_all(fd, text); error != 0) return fail(os_failure("write", path, error));
  if (::fsync(fd) != 0) return fail(os_failure("fsync", path, errno));
  return {};
}

}  // namespace

Error os_failure(std::string_view call, std::string_view path, int error, Stage stage) {
  return {.code = ErrorCode::io,
          .stage = stage,
          .os_error = error,
          .message = fmt::format("{} {} failed: {}", call, base::quoted(path), std::generic_category().message(error))};
}

FileType type_of(const AbsPath& path) {
  struct stat status = {};
  return ::lstat(path.text().c_str(), &status) == 0 ? type_from(status.st_mode) : FileType::missing;
}

bool is_known_absent(const AbsPath& path) {
  struct stat status = {};
  return ::lstat(path.text().c_str(), &status) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

FileType target_type_of(const AbsPath& path) {
  struct stat status = {};
  return ::stat(path.text().c_str(), &status) == 0 ? type_from(status.st_mode) : FileType::missing;
}

// Few files are closed to everybody; only those need a second question, about groups and access lists.
bool is_locked(const AbsPath& path, const struct stat& status) {
  if ((status.st_mode & (S_IROTH | S_IXOTH)) != 0 || status.st_uid == ::geteuid()) return false;
  const auto refused = [&](int right) {
    return ::faccessat(AT_FDCWD, path.text().c_str(), right, AT_EACCESS | AT_SYMLINK_NOFOLLOW) != 0 && errno == EACCES;
  };
  return refused(R_OK) && refused(X_OK);
}

Result<std::string> link_text(const AbsPath& path) { return link_text(AT_FDCWD, path.text()); }

Result<std::string> link_text(int directory, const std::string& name) {
  std::string text(PATH_MAX, '\0');
  const auto length = ::readlinkat(directory, name.c_str(), text.data(), text.size());
  if (length < 0) return fail(os_failure("readlink", name, errno));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

Result<std::string> read_file(const AbsPath& path, std::size_t max_bytes) {
  return read_all(UniqueFd(::open(path.text().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)), path.text(), max_bytes);
}

Result<std::string> read_file(int directory, const std::string& name, std::size_t max_bytes) {
  return read_all(UniqueFd(::openat(directory, name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW)), name, max_bytes);
}

namespace {

using Directory = std::unique_ptr<DIR, int (*)(DIR*)>;

Result<std::vector<Entry>> read_entries(const Directory& directory, std::string_view name, std::size_t max_names) {
  if (!directory) return fail(os_failure("opendir", name, errno));
  ::rewinddir(directory.get());
  std::vector<Entry> entries;
  errno = 0;
  while (const auto* entry = ::readdir(directory.get())) {
    std::string found = entry->d_name;
    if (found != "." && found != "..") entries.push_back({std::move(found), type_from(static_cast<mode_t>(DTTOIF(entry->d_type)))});
    if (entries.size() > max_names)
      return fail(Error{.code = ErrorCode::io,
                        .stage = Stage::load,
                        .message = fmt::format("{} has more than {} entries", base::quoted(name), max_names)});
    errno = 0;
  }
  if (errno != 0) return fail(os_failure("readdir", name, errno));
  std::ranges::sort(entries, {}, &Entry::name);
  return entries;
}

std::vector<std::string> names_of(std::vector<Entry> entries) {
  std::vector<std::string> names;
  names.reserve(entries.size());
  for (auto& entry : entries) names.push_back(std::move(entry.name));
  return names;
}

}  // namespace

Result<std::vector<Entry>> list_entries(const AbsPath& path, std::size_t max_names) {
  return read_entries(Directory(::opendir(path.text().c_str()), &::closedir), path.text(), max_names);
}

Result<std::vector<std::string>> list_directory(const AbsPath& path, std::size_t max_names) {
  HARN_TRY(entries, list_entries(path, max_names));
  return names_of(std::move(entries));
}

UniqueFd open_held(int directory) { return UniqueFd(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)); }

Result<UniqueFd> open_directory(const AbsPath& path) {
  UniqueFd fd(::open(path.text().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return fail(os_failure("open", path.text(), errno));
  return fd;
}

Result<std::vector<Entry>> list_entries(int directory, std::size_t max_names) {
  UniqueFd own(::fcntl(directory, F_DUPFD_CLOEXEC, 0));
  if (!own) return fail(os_failure("dup", "the directory", errno));
  const Directory opened(::fdopendir(own.get()), &::closedir);
  if (opened) own.release();
  return read_entries(opened, "the directory", max_names);
}

Result<std::vector<std::string>> list_directory(int directory, std::size_t max_names) {
  HARN_TRY(entries, list_entries(directory, max_names));
  return names_of(std::move(entries));
}

bool is_executable(const AbsPath& path) {
  return target_type_of(path) == FileType::file && ::faccessat(AT_FDCWD, path.text().c_str(), X_OK, AT_EACCESS) == 0;
}

bool is_writable_directory(const AbsPath& path) {
  return target_type_of(path) == FileType::directory && ::faccessat(AT_FDCWD, path.text().c_str(), W_OK | X_OK, AT_EACCESS) == 0;
}

bool is_entitled_file(const AbsPath& path) { return is_entitled(path) && target_type_of(path) == FileType::file; }

bool is_entitled(const AbsPath& path) {
  // The link's owner counts, not the target's: he chose where it leads.
  struct stat file = {};
  struct stat directory = {};
  if (::lstat(path.text().c_str(), &file) != 0) return false;
  if (file.st_uid == ::geteuid() || file.st_uid == 0) return true;
  return ::stat(path.parent().text().c_str(), &directory) == 0 && file.st_uid == directory.st_uid;
}

Status make_directories(const AbsPath& path) {
  if (::mkdir(path.text().c_str(), 0700) == 0 || errno == EEXIST) return {};
  if (errno != ENOENT || path.is_root()) return fail(os_failure("mkdir", path.text(), errno));
  HARN_OK(make_directories(path.parent()));
  if (::mkdir(path.text().c_str(), 0700) == 0 || errno == EEXIST) return {};
  return fail(os_failure("mkdir", path.text(), errno));
}

Status replace_file(const AbsPath& path, std::string_view text) {
  HARN_OK(make_directories(path.parent()));
  std::string fresh = path.text() + ".XXXXXX";
  const UniqueFd fd(::mkostemp(fresh.data(), O_CLOEXEC));
  if (!fd) return fail(os_failure("mkostemp", fresh, errno));
  auto written = keep_all(fd.get(), fresh, text);
  if (written && ::rename(fresh.c_str(), path.text().c_str()) != 0) written = fail(os_failure("rename", fresh, errno));
  if (!written) ::unlink(fresh.c_str());
  return written;
}

Status replace_file(int directory, const std::string& name, std::string_view text) {
  const auto fresh = fmt::format("{}.{:016x}", name, random_number());
  const UniqueFd fd(::openat(directory, fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!fd) return fail(os_failure("open", fresh, errno));
  auto written = keep_all(fd.get(), fresh, text);
  if (written && ::renameat(directory, fresh.c_str(), directory, name.c_str()) != 0) written = fail(os_failure("rename", fresh, errno));
  if (!written) ::unlinkat(directory, fresh.c_str(), 0);
  return written;
}

Status try_replace_file(const AbsPath& path) {
  if (target_type_of(path) == FileType::directory) return fail(os_failure("open", path.text(), EISDIR));
  std::string fresh = path.text() + ".XXXXXX";
  const UniqueFd fd(::mkostemp(fresh.data(), O_CLOEXEC));
  if (!fd) return fail(os_failure("create", path.text(), errno));
  ::unlink(fresh.c_str());
  return {};
}

}  // namespace harn::sys
