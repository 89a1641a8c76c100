// SPDX-License-Identifier: Apache-2.0
#include "snapshot/objects.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "snapshot/hash.h"
#include "sys/files.h"
#include "sys/random_number.h"

namespace harn::snapshot {
namespace {

constexpr std::size_t block = 256 << 10;
constexpr std::size_t most_names = 10'000'000;
constexpr std::string_view unfinished = ".new-";

std::unexpected<Error> failed(std::string_view call, std::string_view name) { return fail(sys::os_failure(call, name, errno)); }

// From one to the other, hashed on the way.
Result<std::uint64_t> pass(int from, int to, std::string_view name, Hash& hash) {
  std::string bytes(block, '\0');
  std::uint64_t all = 0;
  for (;;) {
    const auto got = ::read(from, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("read", name);
    if (got == 0) return all;
    const std::string_view piece(bytes.data(), static_cast<std::size_t>(got));
    hash.add(piece);
    if (const int error = sys::write_all(to, piece); error != 0) return fail(sys::os_failure("write", name, error));
    all += piece.size();
  }
}

}  // namespace

Result<Objects> Objects::open(const AbsPath& place) {
  const auto directory = place.join("objects");
  HARN_OK(sys::make_directories(directory));
  HARN_TRY(fd, sys::open_directory(directory));
  int result = -1;
  do result = ::flock(fd.get(), LOCK_EX);
  while (result != 0 && errno == EINTR);
  if (result != 0) return failed("flock", directory.text());
  return Objects(directory, std::move(fd));
}

// The copy is written first and hashed on the way: what is hashed is what is kept, whatever becomes of the file.
Result<Objects::Kept> Objects::keep(int file, const std::string& name) const {
  const auto temporary = fmt::format("{}{:016x}", unfinished, sys::random_number());
  sys::UniqueFd copy(::openat(directory_.get(), temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!copy) return failed("open", temporary);
  Hash hash;
  auto bytes = pass(file, copy.get(), name, hash);
  if (!bytes) {
    ::unlinkat(directory_.get(), temporary.c_str(), 0);
    return fail(std::move(bytes).error());
  }
  Kept out{.hash = hash.hex(), .bytes = *bytes};
  out.is_new = ::renameat2(directory_.get(), temporary.c_str(), directory_.get(), out.hash.c_str(), RENAME_NOREPLACE) == 0;
  if (out.is_new) return out;
  const int error = errno;
  ::unlinkat(directory_.get(), temporary.c_str(), 0);
  if (error != EEXIST) return fail(sys::os_failure("rename", out.hash, error));
  return out;
}

Status Objects::put(const std::string& hash, int directory, const std::string& name, unsigned mode) const {
  const sys::UniqueFd from(::openat(directory_.get(), hash.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!from) return failed("open", hash);
  const auto temporary = fmt::format(".harn-restore-{:016x}", sys::random_number());
  const sys::UniqueFd to(::openat(directory, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!to) return failed("open", name);
  Hash actual;
  auto bytes = pass(from.get(), to.get(), name, actual);
  const auto give_up = [&](Error error) {
    ::unlinkat(directory, temporary.c_str(), 0);
    return fail(std::move(error));
  };
  if (!bytes) return give_up(std::move(bytes).error());
  if (actual.hex() != hash)
    return give_up({.code = ErrorCode::protocol,
                    .stage = Stage::load,
                    .message = fmt::format("the kept content of {} is damaged", base::quoted(name)),
                    .hint = "restore another snapshot"});
  if (::fchmod(to.get(), mode) != 0 || ::renameat(directory, temporary.c_str(), directory, name.c_str()) != 0)
    return give_up(sys::os_failure("rename", name, errno));
  return {};
}

Status Objects::settle() const {
  if (::syncfs(directory_.get()) != 0) return failed("syncfs", place_.text());
  return {};
}

Status Objects::remove_unused(const std::set<std::string>& used) const {
  HARN_TRY(names, sys::list_directory(directory_.get(), most_names));
  for (const auto& name : names)
    if (!used.contains(name) && ::unlinkat(directory_.get(), name.c_str(), 0) != 0) return failed("unlink", name);
  return {};
}

}  // namespace harn::snapshot
