// SPDX-License-Identifier: Apache-2.0
#include "session/short_lived_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "sys/files.h"
#include "sys/unique_fd.h"

namespace harn::session {

Status replace_short_lived(const AbsPath& path, std::string_view text) {
  std::string fresh = path.text() + ".XXXXXX";
  const sys::UniqueFd fd(::mkostemp(fresh.data(), O_CLOEXEC));
  if (!fd) return fail(sys::os_failure("mkostemp", fresh, errno));
  int error = sys::write_all(fd.get(), text);
  if (error == 0 && ::rename(fresh.c_str(), path.text().c_str()) != 0) error = errno;
  if (error == 0) return {};
  ::unlink(fresh.c_str());
  return fail(sys::os_failure("write", path.text(), error));
}

}  // namespace harn::session
