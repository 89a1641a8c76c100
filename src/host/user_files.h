// SPDX-License-Identifier: Apache-2.0
// Text files people keep for Harn: policies, settings, the list of what they trust. What the faces
// (cli, bindings) need of the file system, so that they touch no system call themselves.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "harn/path.h"
#include "harn/result.h"
#include "sys/unique_fd.h"

namespace harn::host {

Result<std::string> read_user_file(const AbsPath& path, std::size_t max_bytes);

// Nothing when the file is missing; unreadable is still an error.
Result<std::optional<std::string>> read_user_file_if_present(const AbsPath& path, std::size_t max_bytes);

// In one step, readable by its owner only; makes missing directories.
Status keep_user_file(const AbsPath& path, std::string_view text);

// A file to be kept later, in a directory held open from now on: whatever a command makes of the names
// on the way meanwhile, the text goes where it was meant to go.
class HeldPlace {
 public:
  static Result<HeldPlace> open(const AbsPath& path);  // an error where no file can be made now
  Status keep(std::string_view text) const;

 private:
  sys::UniqueFd directory_ = {};
  std::string name_ = {};
};

}  // namespace harn::host
