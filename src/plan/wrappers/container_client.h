// SPDX-License-Identifier: Apache-2.0
// Which engine a container client talks to, and by whose settings. What decides about that must be the
// operator's, lie on this machine, and be out of the command's reach.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plan/lower.h"
#include "plan/wrappers/container_words.h"

namespace harn::plan {

using Variables = std::map<std::string, std::string>;

struct ContainerClient {
  std::vector<std::string> words = {};  // between the program and its verb
  Variables environment = {};           // all the client gets beside the command's variables
  std::vector<AbsPath> trusted = {};    // programs and settings it believes
  std::vector<AbsPath> sockets = {};    // of the engine itself
};

// From the caller's environment. Fails for an engine on another machine.
Result<ContainerClient> container_client(const Variables& caller, const HostFacts& facts, Engine engine);

// Fails when the command could change or use something the client believes.
Status check_client(const ContainerClient& client, const PathRules& rules);

}  // namespace harn::plan
