// SPDX-License-Identifier: Apache-2.0
// What a PreparedChild owns. Everything the children read lies here and does not move.
#pragma once

#include <linux/filter.h>

#include <memory>
#include <vector>

#include "plan/syscalls/bpf.h"
#include "run/launch.h"
#include "run/prepare_gates.h"
#include "run/script_writer.h"

namespace harn::run {

struct PreparedParts {
  Keep keep = {};
  ScriptWriter outer{keep};
  ScriptWriter inner{keep};
  ScriptWriter narrowing{keep};     // with a keeper: what every command gives up
  ScriptWriter first_proofs{keep};  // … and what is tried once
  int ruleset = -1;                 // among what the keeper keeps
  std::uint64_t clone_flags = 0;
  child::Launch launch = {};
  sys::UniqueFd control = {};
  sys::UniqueFd status = {};
  sys::UniqueFd wrapper_status = {};
  sys::UniqueFd refusals = {};
  plan::BpfProgram filter = {};
  sock_fprog filter_header = {};
  std::vector<char*> argv = {};
  std::vector<char*> shell_argv = {};
  std::vector<char*> envp = {};
  std::vector<char*> init_argv = {};
  std::vector<const char*> candidates = {};
  std::unique_ptr<char[]> stacks = {};
  char* outer_stack_top = nullptr;
  Proofs proofs = {};
  GateParts gates = {};
  std::vector<Trial> trials = {};
};

// A process killed before it became another program may leave one behind, for a moment, that lives in this memory: it is never
// freed. Our ends of its pipes are closed all the same, because others wait for that.
void leave_to_orphans(std::unique_ptr<PreparedParts> parts);

// The highest capability this kernel knows.
int highest_capability();

}  // namespace harn::run
