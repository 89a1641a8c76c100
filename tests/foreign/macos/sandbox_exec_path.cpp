// SPDX-License-Identifier: Apache-2.0
// The stand-in for sandbox-exec, in place of src/run/macos/sandbox_exec.cpp.
#include "run/macos/sandbox_exec.h"

#include <stdlib.h>

namespace harn::run {

// The build directory may be closed for others, so that a test brings a copy.
const std::string& sandbox_exec_program() {
  const char* copy = ::getenv("HARN_STANDIN");
  static const std::string path = copy != nullptr ? copy : HARN_SANDBOX_EXEC;
  return path;
}

}  // namespace harn::run
