// SPDX-License-Identifier: Apache-2.0
#include "host/windows/text_files.h"

#include "sys/files.h"

namespace harn::host {

Result<std::string> read_text(const AbsPath& path, std::size_t max_bytes) { return sys::read_file(path, max_bytes); }

Result<std::optional<std::string>> text_if_present(const AbsPath& path, std::size_t max_bytes) {
  if (sys::type_of(path) == sys::FileType::missing) return std::optional<std::string>();
  HARN_TRY(text, sys::read_file(path, max_bytes));
  return std::optional<std::string>(std::move(text));
}

}  // namespace harn::host
