// SPDX-License-Identifier: Apache-2.0
// What a wrapper's command line does to the files of a host, worked out from its words alone the way
// bwrap 0.8, firejail 0.9.72 and docker/podman read them. Shares no code with the lowerings it judges.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harn/plan.h"

namespace harn::test {

struct Understood {
  // To the host's own file at a path; private and empty places are Access::none.
  std::function<Access(const AbsPath&)> access = {};
  std::vector<std::string> command = {};   // the words the command gets
  std::vector<std::string> problems = {};  // where the program would fail, or leave something on the host
};

Understood understand_bwrap(const std::vector<std::string>& argv, const HostFacts& facts);
Understood understand_firejail(const std::vector<std::string>& argv, const HostFacts& facts);
Understood understand_container(const std::vector<std::string>& argv, const HostFacts& facts);

// One CSV record as Go's encoding/csv reads it; empty when it would be refused.
std::vector<std::string> csv_fields(const std::string& record);

}  // namespace harn::test
