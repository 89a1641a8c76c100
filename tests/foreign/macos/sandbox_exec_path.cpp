// SPDX-License-Identifier: Apache-2.0
// The stand-in for sandbox-exec, in place of src/run/macos/sandbox_exec.cpp.
#include "run/macos/sandbox_exec.h"

namespace harn::run {

const std::string& sandbox_exec_program() {
  static const std::string path = HARN_SANDBOX_EXEC;
  return path;
}

}  // namespace harn::run
