// SPDX-License-Identifier: Apache-2.0
// Which file a command's first word means. Unlike the system's own search this one never looks in the directory the command
// runs in: a name without a path comes from PATH or from nowhere.
#pragma once

#include <functional>
#include <string>

#include "harn/path.h"
#include "run/windows/environment_block.h"

namespace harn::run::windows {

using IsFile = std::function<bool(const AbsPath& path)>;

Result<AbsPath> find_program(std::string_view word, const AbsPath& cwd, const Variables& variables, const IsFile& is_file);

std::string native_path(const AbsPath& path);  // with backslashes

}  // namespace harn::run::windows
