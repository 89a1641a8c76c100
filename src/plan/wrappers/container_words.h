// SPDX-License-Identifier: Apache-2.0
// The words of a container engine's command line that need care: mounts in the engines' CSV dialect,
// and variables that must not steer the engine's own client.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/lower.h"

namespace harn::plan {

enum class Engine : std::uint8_t {
  docker,
  podman
};
std::string_view name_of(Engine engine);

// Where harn's own files stand inside; nothing else may be mounted there.
inline constexpr std::string_view entry_directory = "/.harn";

class MountWords {
 public:
  MountWords(const HostFacts& facts, Engine engine);

  // The value of --mount. Fails for paths the engine would change on the way.
  Result<std::string> word(const MountStep& step) const;

 private:
  Engine engine_;
  std::string_view not_recursive_;
};

// The value of --tmpfs for a private writable directory.
Result<std::string> scratch_word(const AbsPath& place, std::string_view size, const HostFacts& facts, Engine engine);

// --env for every planned variable. Values travel in the client's environment, never on its command
// line; names the client itself obeys are taken out of the plan, or written out when harmless.
void add_environment(const Policy& policy, Plan& plan, std::vector<std::string>& words);

// How many words of harn's own program stand between the image and the command.
inline constexpr std::size_t entry_words = 7;

// The plan of a container with another command in it: its words, its variables (plan.env.variables, as planned for the policy).
void change_command(const Policy& policy, std::vector<std::string> argv, Plan& plan);

}  // namespace harn::plan
