// SPDX-License-Identifier: Apache-2.0
// Two readings of a container seccomp profile, neither of them ours: a literal model of its JSON,
// and libseccomp itself, fed the way container runtimes feed it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/syscalls/bpf.h"

namespace harn::test {

struct ProfileArgument {
  unsigned index = 0;
  std::uint64_t value = 0;
  std::uint64_t value_two = 0;
  std::string op = {};
};

struct ProfileEntry {
  std::vector<std::string> names = {};
  std::string action = {};
  int error = 0;
  std::vector<ProfileArgument> arguments = {};
};

struct DockerProfile {
  std::string default_action = {};
  int default_error = 0;
  std::string architecture = {};
  std::vector<ProfileEntry> entries = {};

  // "allow", or the errno it fails with. "ambiguous" where entries of different actions match.
  std::string verdict(std::string_view name, const std::array<std::uint64_t, 6>& arguments) const;

  // An entry that looks at one argument twice: container runtimes read those as alternatives.
  bool looks_twice() const;
};

DockerProfile read_profile(const std::string& json);

// The program libseccomp makes of the profile; names it does not know are left out.
plan::BpfProgram compile_with_libseccomp(const DockerProfile& profile);

}  // namespace harn::test
