// SPDX-License-Identifier: Apache-2.0
// A view that stays: its keeper is started once and outlives whoever started it; commands join through its
// socket. The socket lies in a directory that only its owner can enter, and the keeper asks the kernel who
// connects: its owner, from outside.
#pragma once

#include <sys/socket.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "run/keeper/protocol.h"
#include "run/launch.h"
#include "run/prepare_keeper.h"

namespace harn::run {

struct SocketName {
  std::string_view name = {};
  int type = 0;  // SOCK_…
};
inline constexpr SocketName keeper_socket = {.name = "keeper", .type = SOCK_STREAM};

// Listening at this name in a directory of ours. An error where the directory is another's or a link.
Result<sys::UniqueFd> listen_in(const AbsPath& directory, SocketName socket = keeper_socket);
// The error's os_error is ECONNREFUSED or ENOENT where nobody is there any more.
Result<sys::UniqueFd> connect_in(const AbsPath& directory, SocketName socket = keeper_socket);

struct KeepRequest {
  AbsPath directory = {};  // of its socket
  std::uint64_t idle_ms = 0;
  std::uint64_t lifetime_ms = 0;
  bool hide_launcher = false;
  std::optional<AbsPath> canary = {};
  const SessionFreezer* freezer = nullptr;  // borrowed
  child::Fault fault = {};                  // for tests
};

struct Kept {
  pid_t pid = -1;
  Proofs proofs = {};  // tried before anybody was inside
};

// The plan's command is not run. When this fails, nothing is left.
Result<Kept> keep_view(const Plan& plan, const KeepRequest& request);

// A connection for one command, whose holder gets ready while the caller does.
Result<sys::UniqueFd> reserve_in(const AbsPath& directory);

// The next command's connection, for callers that start one after the other. Many threads may use one.
class Line {
 public:
  explicit Line(bool lasting) : lasting_(lasting) {}

  // The one that was made before, if it still holds, or a new one.
  Result<sys::UniqueFd> take(const AbsPath& directory);
  // Nobody waits for this: where it cannot be made, take() says why.
  void prepare(const AbsPath& directory);
  // prepare(), where another command is to be expected.
  void renew(const AbsPath& directory);

 private:
  bool lasting_;
  std::mutex lock_ = {};
  sys::UniqueFd next_ = {};
};

struct JoinRequest {
  AbsPath directory = {};
  std::array<int, 3> stdio = {0, 1, 2};     // borrowed
  std::vector<std::string> cgroups = {};    // cgroup.procs files to join
  bool keeps_processes = false;             // what the command leaves behind stays
  const SyscallFilter* narrower = nullptr;  // borrowed; on top of the view's own: no socket but Unix ones, which is tried
  bool own_terminal = false;                // its standard input is a terminal that becomes its own
  sys::UniqueFd connection = {};            // a reserved one; without it one is made
  bool waits = false;                       // everything is done but the start, which is start_asked()
};

// A command that was asked for. Without start_asked() nothing runs.
class AskedCommand {
 public:
  AskedCommand(AskedCommand&&) noexcept;
  AskedCommand& operator=(AskedCommand&&) = delete;
  ~AskedCommand();

 private:
  friend Result<AskedCommand> ask_to_join(const Plan& plan, JoinRequest request);
  friend Result<Process> start_asked(AskedCommand asked);
  struct Parts;
  explicit AskedCommand(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

// The plan's command, environment, directory and limits; what it is confined by was settled with the view.
Result<AskedCommand> ask_to_join(const Plan& plan, JoinRequest request);
Result<Process> start_asked(AskedCommand asked);

// One order and what it is answered with.
Result<keeper::State> ask_keeper(const AbsPath& directory, keeper::Kind order);
// Everybody ends; returns when the keeper is gone, which is looked at by its pid.
Status end_keeper(const AbsPath& directory, pid_t pid);

struct KeptNamespaces {
  sys::UniqueFd user = {};
  sys::UniqueFd mount = {};
  sys::UniqueFd network = {};
  sys::UniqueFd ruleset = {};
};
Result<KeptNamespaces> namespaces_in(const AbsPath& directory);

}  // namespace harn::run
