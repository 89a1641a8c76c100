// SPDX-License-Identifier: Apache-2.0
// What the kernel opens by itself to start a program: the interpreter of a script, the loader of a binary.
// No system call of the command shows them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harn/path.h"

namespace harn::learn {

// The program itself with every link on the way to it, then its interpreter with the same, and so on.
std::vector<AbsPath> opened_to_start(const AbsPath& program);

// Where a command's first word leads: as execvp looks for it.
std::optional<AbsPath> find_program(const std::string& word, const AbsPath& cwd, const std::string& search_path);

// Of the first bytes of a program; empty = none, or not known.
std::string interpreter_in(std::string_view head);

}  // namespace harn::learn
