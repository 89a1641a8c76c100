// SPDX-License-Identifier: Apache-2.0
// Writing a whole file at a name in a held directory.
#pragma once

#include <string>
#include <string_view>

namespace harn::files {

// Each answers 0 or an errno; ELOOP and ENOTDIR also when the name became something else meanwhile.

// In one step: a reader sees the old or the new file, and an error leaves the old one. The mode stays,
// the owner where we may set it.
int replace_at(int directory, const std::string& name, std::string_view text);

// The file itself, for a name whose directory is not ours to put a second file into.
int overwrite_at(int directory, const std::string& name, std::string_view text);

}  // namespace harn::files
