// SPDX-License-Identifier: Apache-2.0
// The environment of a Windows process: NAME=VALUE, each ended by a zero, sorted without regard to letter case, with one
// more zero at the end. Two names that differ only in case are one variable.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "harn/result.h"

namespace harn::run::windows {

using Variables = std::map<std::string, std::string>;

// `changes` win, whatever case the names have; @container:folder in them becomes `folder`.
Variables with_container_folder(Variables variables, const Variables& changes, std::string_view folder);

// The value of a variable, however it is spelled; empty when there is none.
std::string_view variable(const Variables& variables, std::string_view name);

Result<std::u16string> environment_block(const Variables& variables);

}  // namespace harn::run::windows
