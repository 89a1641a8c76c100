// SPDX-License-Identifier: Apache-2.0
#include "files/replace_at.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>

#include <fmt/format.h>

#include "sys/files.h"
#include "sys/random_number.h"
#include "sys/unique_fd.h"

namespace harn::files {
namespace {

constexpr mode_t usual_mode = S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH;  // less the umask
constexpr mode_t kept_bits = S_IRWXU | S_IRWXG | S_IRWXO;                                 // never setuid or setgid

// A name nobody can have prepared.
int make_beside(int directory, std::string& name) {
  name = fmt::format(".harn-{:016x}", sys::random_number());
  return ::openat(directory, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, usual_mode);
}

// What is replaced is a regular file or nothing; 0 or an errno.
int keep_appearance(int directory, const std::string& name, int fresh) {
  struct stat old = {};
  if (::fstatat(directory, name.c_str(), &old, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT ? 0 : errno;
  if (S_ISLNK(old.st_mode)) return ELOOP;
  if (S_ISDIR(old.st_mode)) return EISDIR;
  if (!S_ISREG(old.st_mode)) return EINVAL;
  // A file its reader may not write is not written by taking its place.
  if (::faccessat(directory, name.c_str(), W_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW) != 0) return errno;
  struct stat own = {};
  if (::fstat(fresh, &own) != 0) return errno;
  const bool another = old.st_uid != own.st_uid || old.st_gid != own.st_gid;
  if (another && ::fchown(fresh, old.st_uid, old.st_gid) != 0 && errno != EPERM) return errno;
  return ::fchmod(fresh, old.st_mode & kept_bits) == 0 ? 0 : errno;
}

}  // namespace

int replace_at(int directory, const std::string& name, std::string_view text) {
  std::string beside;
  sys::UniqueFd fresh(make_beside(directory, beside));
  if (!fresh) return errno;
  int error = keep_appearance(directory, name, fresh.get());
  if (error == 0) error = sys::write_all(fresh.get(), text);
  // Some file systems find out about a full disk only here.
  if (error == 0 && ::close(fresh.release()) != 0) error = errno;
  if (error == 0 && ::renameat(directory, beside.c_str(), directory, name.c_str()) != 0) error = errno;
  if (error != 0) ::unlinkat(directory, beside.c_str(), 0);
  return error;
}

int overwrite_at(int directory, const std::string& name, std::string_view text) {
  const sys::UniqueFd fd(
      ::openat(directory, name.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, usual_mode));
  if (!fd) return errno;
  struct stat status = {};
  if (::fstat(fd.get(), &status) != 0) return errno;
  if (!S_ISREG(status.st_mode)) return EINVAL;
  if (::ftruncate(fd.get(), 0) != 0) return errno;
  return sys::write_all(fd.get(), text);
}

}  // namespace harn::files
