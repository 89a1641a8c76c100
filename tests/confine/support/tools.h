// SPDX-License-Identifier: Apache-2.0
// The programs of the suite in a place every user can reach, and how one of them is started.
#pragma once

#include <sys/types.h>

#include <array>
#include <map>
#include <string>
#include <vector>

namespace harn::confine {

// Made once per test program and removed at its end: harn, harn_probe, harn_less, and harn_probe
// again as a set-user-id program.
const std::string& tools_directory();

// For a child before exec: give up root for good.
void become(uid_t uid);

struct Launch {
  std::vector<std::string> argv = {};
  std::map<std::string, std::string> environment = {};
  std::string cwd = {};
  uid_t uid = 0;
  pid_t group = 0;                              // the process group to join; 0 = a new one
  std::array<int, 2> streams = {-1, -1};        // standard input and error; -1 = /dev/null and the test's own
  std::vector<std::pair<int, int>> extra = {};  // (ours, the number it gets), inherited
  int terminal = -1;                            // becomes the controlling terminal and standard input
};

struct Finished {
  int exit_code = -1;  // 128+n when killed by signal n
  std::string out = {};
};

Finished run(const Launch& launch);

}  // namespace harn::confine
