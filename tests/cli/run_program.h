// SPDX-License-Identifier: Apache-2.0
// Runs a program to its end and keeps what it said.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harn/path.h"

namespace harn::test {

struct ProgramRun {
  int exit_code = -1;  // 128+n when killed by signal n
  std::string out = {};
  std::string err = {};
};

struct ProgramCall {
  std::vector<std::string> argv = {};
  std::map<std::string, std::string> environment = {};
  AbsPath cwd = {};
  AbsPath scratch = {};  // a directory for the captured output
};

ProgramRun run_program(const ProgramCall& call);

}  // namespace harn::test
