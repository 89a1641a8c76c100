// SPDX-License-Identifier: Apache-2.0
// One way of running a list of cases: for whom, and confined by what.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "confine/support/scene.h"
#include "sys/unique_fd.h"

namespace harn::confine {

enum class Way : unsigned char {
  unconfined,
  view,          // everything this kernel offers
  bare,          // as on a host without user namespaces
  old_kernel,    // … and before Landlock knew more than files
  unsupervised,  // … and where nobody can answer for the command either: the gaps are named
  explained,     // everything, and a supervisor that makes the calls to tell what is refused
  nested,        // inside another harn
  bubblewrap,    // the view by another program, without Landlock
  container,     // of an engine
  without_view,  // the layer is missing and nothing makes up for it
  without_landlock,
  without_seccomp,
};

struct Stand {
  Way way = Way::unconfined;
  uid_t uid = 0;

  std::string name() const;  // "RefusedWithoutUserNamespacesAsRoot"
};

struct Extras {
  std::vector<sys::UniqueFd> keep = {};               // open until the run is over
  std::vector<std::pair<int, int>> descriptors = {};  // (ours, the number the launcher inherits it as)
  int input = -1;
  int terminal = -1;

  int add(int fd) {
    keep.emplace_back(fd);
    return fd;
  }
  std::map<std::string, std::string> environment = {};
};

struct Told {
  std::map<std::string, std::string, std::less<>> words = {};  // case id → "ok" or what refused it
  std::string receipt = {};
  int exit_code = -1;
};

// Runs the cases in one process tree and tells what became of each.
Told run_cases(const Stand& stand, const Scene& scene, std::span<const Case> cases, const Extras& extras = {});

// Whether the receipt names "dimension/code", for everything or for a path at or above `path`.
bool receipt_names(const std::string& receipt, std::string_view gap, const std::string& path);

}  // namespace harn::confine
