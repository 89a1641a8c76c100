// SPDX-License-Identifier: Apache-2.0
// The narrow table between deciding and Windows: every call that makes or checks the boundary, and no other. os/real_calls.cpp
// fills it with the system's functions, found by name while running, so that the program starts where one is missing; tests
// fill it with a recorder. Everything is in terms a test on any system can make.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harn/path.h"
#include "run/windows/job_limits.h"

namespace harn::run::windows {

using Handle = std::uintptr_t;       // the system's; 0 = none
using Held = std::shared_ptr<void>;  // something that ends when the last holder lets go

struct Pinned {
  Held held = {};             // while it lives nobody moves the file or directory away
  AbsPath really = {};        // where the name leads
  bool followed = false;      // the name itself is a link or a mount point
  std::string identity = {};  // of the object, whatever its name: volume and number of the file
};

struct SpawnRequest {
  std::string program = {};         // absolute, with backslashes
  std::string line = {};            // command_line()
  std::u16string environment = {};  // environment_block()
  std::string cwd = {};
  std::array<Handle, 3> streams = {};          // the only handles the child gets
  Handle job = 0;                              // the child is born in it
  std::optional<std::string> container = {};   // SID; unset = no AppContainer
  std::vector<std::string> capabilities = {};  // SIDs
};

struct Child {
  Handle process = 0;
  Handle thread = 0;
  std::uint64_t id = 0;
};

struct TokenFacts {
  bool is_container = false;
  std::string sid = {};  // of the container
  std::vector<std::string> capabilities = {};
};

struct Calls {
  // AppContainers
  std::function<Result<std::string>(const std::string& name)> derive_sid = {};        // the SID a container of this name has
  std::function<Result<std::string>(const std::string& name)> create_container = {};  // its SID; an error where it exists already
  std::function<Result<std::string>(const std::string& sid)> container_folder = {};
  std::function<Status(const std::string& name)> delete_container = {};  // fine where it is gone
  // access control lists
  std::function<Result<Pinned>(const AbsPath& path)> pin = {};
  std::function<Result<std::string>(const AbsPath& path)> read_dacl = {};  // SDDL; ErrorCode::io where the path is gone
  std::function<Status(const AbsPath& path, const std::string& sddl)> write_dacl = {};
  // the journal
  AbsPath journal_directory = {};
  std::function<Result<Held>()> lock_journals = {};                                           // among all processes of this user
  std::function<Status(const std::string& name, const std::string& text)> save_journal = {};  // on disk when it returns
  std::function<Status(const std::string& name)> remove_journal = {};
  std::function<Result<std::vector<std::pair<std::string, std::string>>>()> list_journals = {};  // names and texts
  std::function<bool(std::uint64_t owner, std::uint64_t started)> is_running = {};
  std::pair<std::uint64_t, std::uint64_t> self = {};  // this process: its id, and when it started
  // job objects
  std::function<Result<Handle>()> create_job = {};
  std::function<Status(Handle job, const JobLimits& limits)> limit_job = {};
  std::function<Status(Handle job, std::uint32_t limits)> limit_job_ui = {};
  std::function<Status(Handle job, std::uint32_t rate)> limit_job_cpu = {};
  std::function<Result<JobLimits>(Handle job)> read_job = {};
  std::function<Result<std::uint32_t>(Handle job)> read_job_ui = {};
  std::function<Result<std::uint32_t>(Handle job)> read_job_cpu = {};
  // the child
  std::function<Result<Child>(const SpawnRequest& request)> spawn_suspended = {};
  std::function<Result<TokenFacts>(Handle process)> token_of = {};
  std::function<Result<bool>(Handle process, Handle job)> is_in_job = {};
  std::function<Status(Handle thread)> resume = {};
  std::function<void(Handle process)> end_process = {};  // and waits until it is gone
  std::function<void(Handle job)> end_job = {};
  std::function<void(Handle handle)> close = {};
  unsigned processors = 1;
};

}  // namespace harn::run::windows
