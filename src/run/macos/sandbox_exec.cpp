// SPDX-License-Identifier: Apache-2.0
#include "run/macos/sandbox_exec.h"

namespace harn::run {

const std::string& sandbox_exec_program() {
  static const std::string path = "/usr/bin/sandbox-exec";
  return path;
}

}  // namespace harn::run
