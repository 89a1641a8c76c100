// SPDX-License-Identifier: Apache-2.0
// The life of a session on this host, from the moment its name is taken until nothing of it is left.
#pragma once

#include "run/session_freezer.h"
#include "session/record.h"

namespace harn::session {

// A name that is taken and directories that exist, before anything runs. Removed again unless start() succeeds.
class Reserved {
 public:
  // lifecycle where the id is in use. Without one, a new one is made.
  static SandboxResult<Reserved> make(const Places& places, const std::optional<std::string>& id, std::string backend);
  Reserved(Reserved&& other) noexcept;
  Reserved& operator=(Reserved&&) = delete;
  ~Reserved();

  Record record = {};  // to be filled in

  struct Start {
    const Plan& plan;
    const Policy& policy;
    const Command& command;
    std::optional<std::chrono::milliseconds> lifetime = {};
    std::map<std::string, std::string> cgroup = {};  // values for everybody in it together
    std::optional<AbsPath> canary = {};
    bool whole_process = false;
  };
  SandboxResult<Record> start(const Start& how);

 private:
  Reserved(Places places, sys::UniqueFd held) : places_(std::move(places)), held_(std::move(held)) {}
  SandboxResult<void> keep(const Start& how);
  std::optional<run::SessionFreezer> make_freezer();
  SandboxResult<void> contain(const Start& how);

  Places places_;
  sys::UniqueFd held_;
};

// How everybody is put to sleep where there is no freezer.
inline constexpr std::string_view stopped_by = "SIGSTOP";
inline constexpr std::string_view frozen_by_v2 = "cgroup freezer";
inline constexpr std::string_view frozen_by_v1 = "cgroup freezer (version 1)";

SandboxState state_of(const Places& places, const Record& record);
SandboxSession session_of(const Places& places, const Record& record);

// A record whose session lives; session_not_found otherwise.
SandboxResult<Record> live(const Places& places, const std::string& id);

// Held by whoever changes it, until the answer is let go.
SandboxResult<sys::UniqueFd> held(const Places& places, const std::string& id);

// The groups of its limits, and whoever is left in them.
SandboxResult<void> end_cgroup(const Record& record);

// Variables that a plan sets besides those the policy does: they point to places inside, and to the relay.
std::map<std::string, std::string> added_variables(const Plan& plan, const Policy& policy, const Command& command);

// Nothing runs in it now; only where nobody else counts its commands.
bool is_busy(const Places& places, const Record& record);

// Changes that wait keep it, unless they may be lost.
SandboxResult<void> end(const Places& places, const std::string& id, bool discard = false);
SandboxResult<Record> sleep(const Places& places, const std::string& id);
SandboxResult<Record> wake(const Places& places, const std::string& id);

// What a killed program, a killed keeper or a reboot left: the ids that were cleared away.
SandboxResult<std::vector<std::string>> collect_garbage(const Places& places);

}  // namespace harn::session
