// SPDX-License-Identifier: Apache-2.0
// Names are looked up beneath a directory that was opened and found to be ours: whoever could swap a name
// above it changes nothing, and a long path is no longer than the kernel's room for one.
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include <fmt/format.h>

#include "base/text.h"
#include "run/kept.h"
#include "sys/files.h"

namespace harn::run {
namespace {

constexpr int backlog = 128;

std::unexpected<Error> failed(std::string_view call, const AbsPath& directory, std::string_view name = {}) {
  return fail(sys::os_failure(call, name.empty() ? directory.text() : directory.join(name).text(), errno, Stage::prepare));
}

Result<sys::UniqueFd> own_directory(const AbsPath& path) {
  sys::UniqueFd fd(::open(path.text().c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return failed("open", path);
  struct stat status = {};
  if (::fstat(fd.get(), &status) != 0) return failed("fstat", path);
  if (status.st_uid != ::geteuid() || (status.st_mode & 077) != 0)
    return fail(Error{.code = ErrorCode::refused,
                      .stage = Stage::prepare,
                      .os_error = EPERM,
                      .message = fmt::format("{} is not a directory that only you can enter", base::quoted(path.text())),
                      .hint = "remove it, or point XDG_RUNTIME_DIR to a directory of your own"});
  return fd;
}

sockaddr_un address_in(int directory, std::string_view name) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const auto text = fmt::format("/proc/self/fd/{}/{}", directory, name);
  std::memcpy(address.sun_path, text.c_str(), text.size() + 1);
  return address;
}

Result<sys::UniqueFd> new_socket(const AbsPath& directory, SocketName socket) {
  sys::UniqueFd fd(::socket(AF_UNIX, socket.type | SOCK_CLOEXEC, 0));
  if (!fd) return failed("socket", directory, socket.name);
  return fd;
}

}  // namespace

Result<sys::UniqueFd> listen_in(const AbsPath& directory, SocketName socket) {
  HARN_TRY(place, own_directory(directory));
  HARN_TRY(fd, new_socket(directory, socket));
  const auto address = address_in(place.get(), socket.name);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return failed("bind", directory, socket.name);
  if (::chmod(address.sun_path, 0600) != 0) return failed("chmod", directory, socket.name);
  if (::listen(fd.get(), backlog) != 0) return failed("listen", directory, socket.name);
  return fd;
}

Result<sys::UniqueFd> connect_in(const AbsPath& directory, SocketName socket) {
  HARN_TRY(place, own_directory(directory));
  HARN_TRY(fd, new_socket(directory, socket));
  const auto address = address_in(place.get(), socket.name);
  int result = -1;
  do result = ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  while (result != 0 && errno == EINTR);
  if (result != 0) return failed("connect", directory, socket.name);
  return fd;
}

}  // namespace harn::run
