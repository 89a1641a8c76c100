// SPDX-License-Identifier: Apache-2.0
#include "sandbox/wasm_module.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

#include "base/text.h"
#include "sys/files.h"
#include "sys/unique_fd.h"

namespace harn::sandbox {
namespace {

constexpr std::string_view module_magic("\0asm\x01\0\0\0", 8);
constexpr std::string_view component_magic("\0asm\x0d\0\x01\0", 8);

std::unexpected<Error> no_module(const AbsPath& file, std::string_view what, int error = 0) {
  return fail(Error{.code = ErrorCode::invalid_command,
                    .stage = Stage::spawn,
                    .os_error = error,
                    .message = fmt::format("{} {}", base::quoted(file.text()), what),
                    .hint = "profile 'wasi' runs modules for WASI preview 1; a native command needs another profile"});
}

}  // namespace

Status check_module(const AbsPath& file) {
  const sys::UniqueFd fd(::open(file.text().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return no_module(file, errno == ENOENT ? "does not exist" : "cannot be read", errno);
  struct stat seen = {};
  if (::fstat(fd.get(), &seen) != 0 || !S_ISREG(seen.st_mode)) return no_module(file, "is no regular file", ENOEXEC);
  char text[module_magic.size()] = {};
  const auto got = ::pread(fd.get(), text, sizeof text, 0);
  const std::string_view begin(text, got > 0 ? static_cast<std::size_t>(got) : 0);
  if (begin == module_magic) return {};
  if (begin == component_magic) return no_module(file, "is a component (WASI preview 2), not a module", ENOEXEC);
  return no_module(file, "is no WebAssembly module", ENOEXEC);
}

}  // namespace harn::sandbox
