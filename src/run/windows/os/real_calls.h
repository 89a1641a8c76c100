// SPDX-License-Identifier: Apache-2.0
// The table filled with Windows.
#pragma once

#include "run/windows/calls.h"

namespace harn::run::windows {

// Journals lie in `journals`, which is made if it is missing. Nothing of the system is asked before it is used.
Calls real_calls(const AbsPath& journals);

// Its parts, one file each.
void use_containers(Calls& calls);
void use_lists(Calls& calls);
void use_journals(const AbsPath& directory, Calls& calls);
void use_jobs(Calls& calls);
void use_processes(Calls& calls);

// Asked of the system, not of the environment: what a run changes must be found again by the next, whoever starts it.
Result<AbsPath> journal_directory();  // in the user's local application data

Status has_container_functions();                          // all four
Status takes_container_attribute(const std::string& sid);  // for a process that is not started

bool is_file(const AbsPath& path);
std::string batch_interpreter();  // cmd.exe, in the system's directory

}  // namespace harn::run::windows
