// SPDX-License-Identifier: Apache-2.0
// Somebody who lets harn learn what a command needs, and keeps the policy outside the project.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "explain/explained.h"
#include "harn/policy.h"

namespace harn::test {

class Learning : public Explaining {
 public:
  explicit Learning(const Stand& stand);

  struct Learned {
    int exit_code = -1;
    std::string text = {};  // of the policy; empty when none was written
    std::string said = {};
    std::optional<Policy> policy = {};

    // Every path some list of it opens.
    std::vector<std::string> paths() const;
    bool opens(const std::string& path) const;
  };
  Learned learn(const std::vector<std::string>& flags, std::string_view script) const;
  Finished run_learned(std::string_view script) const;
  std::string policy_file() const { return person().root() + "/kept/learned.toml"; }
};

// Every pair of tier and user; the short form leaves out two of them.
std::vector<Stand> learn_stands();

}  // namespace harn::test
