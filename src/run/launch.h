// SPDX-License-Identifier: Apache-2.0
// From a plan to a running process. prepare() opens, compiles and lays out everything; spawn() makes
// the child, which only replays. Between the two nothing has happened to the host yet.
#pragma once

#include <sys/types.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harn/plan.h"
#include "harn/result.h"
#include "run/child/script.h"
#include "sys/unique_fd.h"

namespace harn::run {

// Where the command stands towards the caller's terminal.
enum class Session : std::uint8_t {
  own,       // a session without a terminal
  terminal,  // the caller's session, a process group of its own in the foreground
  group,     // the caller's session, a process group of its own
};

// Something that must fail once every layer is in place: system calls of which at least one must be
// refused. What their arguments point to stays the caller's until spawn() returned.
struct Trial {
  std::string what = {};  // "reach a port outside", for the message when nothing refuses it
  std::vector<child::Call> calls = {};
};

// Whether it works for the caller: one that fails without confinement would prove nothing.
bool works_unconfined(const Trial& trial);

struct KeeperSettings;

// A relay on the host's own loopback. Ports 0: there is none.
struct RelayReach {
  int announcements = -1;  // borrowed; told where each connection wanted to go
  std::uint16_t stream_port = 0;
  std::uint16_t resolver_port = 0;
};

struct LaunchSettings {
  std::array<int, 3> stdio = {0, 1, 2};  // borrowed; become 0, 1 and 2
  Session session = Session::own;
  int terminal_fd = -1;                    // with Session::terminal
  bool die_with_thread = false;            // for programs whose only thread calls spawn()
  bool hide_launcher = false;              // make the caller's memory unreadable for its own user
  std::vector<std::string> cgroups = {};   // cgroup.procs files to join
  child::Fault fault = {};                 // for tests
  std::optional<AbsPath> canary = {};      // a file outside every grant that the caller can write
  std::vector<Trial> trials = {};          // tried after the canary, before the command
  int relay_channel = -1;                  // borrowed; sockets of the command's network are sent there
  RelayReach relay = {};                   // where a supervisor leads the command's connections instead
  int program_fd = -1;                     // borrowed; run instead of looking for argv[0]
  const KeeperSettings* keeper = nullptr;  // borrowed; the view is kept for later commands, and none is started
};

// What the launcher proved before the command started. Dimensions without a proof are assumed.
using Proofs = std::vector<Dimension>;

class PreparedChild;
struct PreparedParts;

// One running command. The destructor stops and reaps whatever is left.
class Process {
 public:
  Process(Process&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)),
        pidfd_(std::move(other.pidfd_)),
        status_(std::move(other.status_)),
        control_(std::move(other.control_)),
        wrapper_status_(std::move(other.wrapper_status_)),
        refusals_(std::move(other.refusals_)),
        holds_everybody_(other.holds_everybody_) {}
  Process& operator=(Process&&) = delete;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  pid_t pid() const { return pid_; }  // of the command, or of the init program or supervisor that holds it
  int pidfd() const { return pidfd_.get(); }
  bool has_init() const { return static_cast<bool>(status_); }
  // The end of the init program is the end of all: it is pid 1 of a namespace. A supervisor is not.
  bool holds_everybody() const { return holds_everybody_; }
  int status_fd() const { return status_.get(); }
  int wrapper_status_fd() const { return wrapper_status_.get(); }  // -1 = no wrapper that reports
  int refusals_fd() const { return refusals_.get(); }              // -1 = nobody tells; see run/refusals.h

  // To the command alone, or to every process of the tree that can be named.
  void signal(int number, bool everybody = false) const;
  // Asks the init program for the memory only it can see; the answer comes as a record.
  void measure() const;
  // The whole tree, at once and without appeal; a supervisor does it for us.
  void kill() const;
  // The process that was spawned, whatever becomes of the others.
  void kill_holder() const;
  // Reaped by the supervisor: nothing is left to stop.
  void forget() { pid_ = -1; }

 private:
  friend Result<Process> spawn(PreparedChild prepared);
  friend class Joining;
  Process() = default;

  pid_t pid_ = -1;
  sys::UniqueFd pidfd_ = {};
  sys::UniqueFd status_ = {};   // records of the init program
  sys::UniqueFd control_ = {};  // its lifeline; bytes are signals
  sys::UniqueFd wrapper_status_ = {};
  sys::UniqueFd refusals_ = {};
  bool holds_everybody_ = false;
};

class PreparedChild {
 public:
  PreparedChild(PreparedChild&&) noexcept;
  PreparedChild& operator=(PreparedChild&&) noexcept;
  ~PreparedChild();

  const Proofs& proofs() const;
  // What the child will do, step by step, for people: the view's steps, then the command's.
  const std::vector<std::string>& outer_steps() const;
  const std::vector<std::string>& inner_steps() const;

 private:
  friend Result<PreparedChild> prepare(const Plan& plan, const LaunchSettings& settings);
  friend Result<Process> spawn(PreparedChild prepared);
  friend class Keeping;
  friend class Detaching;
  explicit PreparedChild(std::unique_ptr<PreparedParts> parts);

  std::unique_ptr<PreparedParts> parts_;
};

Result<PreparedChild> prepare(const Plan& plan, const LaunchSettings& settings);

// The only way a process comes into being. An error with stage `spawn` names the step that failed;
// the command has not run then. "not found" and "not executable" have os_error ENOENT and EACCES and
// code invalid_command.
Result<Process> spawn(PreparedChild prepared);

// The same for a process that is nobody's child and outlives its caller; nobody waits for it. Its number. Not for a plan with a
// view or a supervisor.
Result<pid_t> spawn_detached(PreparedChild prepared);

}  // namespace harn::run
