// SPDX-License-Identifier: Apache-2.0
#include "sys/own_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "sys/files.h"
#include "sys/remove_tree.h"
#include "sys/unique_fd.h"

namespace harn::sys {

Result<OwnDirectory> OwnDirectory::make(const AbsPath& parent, std::string_view stem) {
  std::string pattern = parent.join(std::string(stem) + "XXXXXX").text();
  if (::mkdtemp(pattern.data()) == nullptr) return fail(os_failure("mkdtemp", pattern, errno));
  OwnDirectory made(AbsPath::of(pattern));
  HARN_TRY(real, real_path(made.path()));
  made.path_ = std::move(real);
  return made;
}

OwnDirectory::~OwnDirectory() {
  if (!path_) return;
  const UniqueFd directory(::open(path_->text().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (directory) empty_directory(directory.get());
  ::rmdir(path_->text().c_str());
}

}  // namespace harn::sys
