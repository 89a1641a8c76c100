// SPDX-License-Identifier: Apache-2.0
// Harn inside another program: a policy is opened once on this host, and commands are run in it from as
// many threads as there are.
//
//   HARN_TRY(sandbox, Sandbox::open(policy, {.environment = env, .cwd = cwd}));
//   HARN_TRY(outcome, sandbox.run({.argv = {"make", "test"}}, {.wall_time = 30s}));
//   if (!outcome.success()) …
//
// Inside a PolicyScope (harn/scope.h) its policy counts too. The program around it keeps its signals, its working directory, its
// environment, its descriptors and its other children; nothing here reads or changes them. Where this host has neither pid namespaces
// nor a supervisor, and no cgroup counts the command, processes that leave the command's process group outlive the run: the receipt
// says so ("outlives_run"). The `harn` program, which has no other children, ends them.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harn/audit.h"
#include "harn/files.h"
#include "harn/plan.h"
#include "harn/sandbox.h"
#include "harn/tape.h"

namespace harn {

// Who asks, and from where. Settings and what was proved about the host are looked for where these
// variables say (HOME, XDG_STATE_HOME, XDG_RUNTIME_DIR; HARN_PRETEND takes mechanisms away).
struct Context {
  std::map<std::string, std::string> environment = {};
  AbsPath cwd = {};
  // Borrowed, and used from the threads that run commands: told of every decision and every run. Null =
  // nothing is recorded; the log of `harn run` is AuditLog in harn/audit.h.
  AuditSink* audit = nullptr;
  // Borrowed; every run ends up on it, those that did not start included. No command can reach the file.
  TapeWriter* tape = nullptr;
  // Borrowed; runs are answered from it, from one thread at a time, and nothing is started: what this host could enforce is not even
  // asked. A run that is not the recorded one is an error that names every difference.
  Replay* replay = nullptr;
  std::vector<AbsPath> withheld = {};  // files that no command may reach, whatever the policy opens
};

// Ends a run from another thread. Outlives the runs it is given to; once asked it stays so.
class Stop {
 public:
  static Result<Stop> make();
  Stop(Stop&& other) noexcept;
  Stop& operator=(Stop&& other) noexcept;
  Stop(const Stop&) = delete;
  Stop& operator=(const Stop&) = delete;
  ~Stop();

  void request() const;  // from any thread, also from a signal handler
  int fd() const { return fd_; }

 private:
  explicit Stop(int fd) : fd_(fd) {}
  int fd_ = -1;
};

// What one call says beyond the command.
struct Call {
  std::optional<std::chrono::milliseconds> wall_time = {};  // the policy's counts where it is shorter
  std::optional<Profile> profile = {};                      // see policy_for_call()
  Limits limits = {};                                       // the policy's count where they are smaller
  std::string input = {};                                   // for its standard input; empty = /dev/null
  std::uint64_t captured_bytes = default_captured_bytes;    // of each output
  OutputSink on_output = {};
  const Stop* stop = nullptr;
  bool receipt = true;
  bool own_environment = false;  // the command's environment counts even where it is empty
};

class Sandbox {
 public:
  // Composes the policy under the system's ceiling, resolves its links, and proves what this host can
  // enforce (once per boot and user; remembered). HARN_HANDLER_SANDBOX is the caller's to read into `options`.
  static Result<Sandbox> open(Policy policy, Context context, PlanOptions options = {});
  Sandbox(Sandbox&&) noexcept;
  Sandbox& operator=(Sandbox&&) noexcept;
  ~Sandbox();

  const Policy& policy() const;        // as composed
  const Narrowing& narrowing() const;  // what the ceiling took from what was asked for
  const HostFacts& facts() const;

  // The host's files are looked at anew for every plan: an earlier command may have changed them. The
  // command's environment is the context's where it has none of its own.
  Result<Plan> plan(const Command& command, const Call& call = {}) const;
  // An error means that the command did not run, a refusal included, or that we lost control of it.
  Result<Outcome> run(const Command& command, const Call& call = {}) const;

  // The same policy for reading and writing files without a command. Look anew (call it again) after a
  // command changed what links lead to.
  Result<FileScope> files() const;

 private:
  struct Parts;
  explicit Sandbox(std::unique_ptr<const Parts> parts);
  std::unique_ptr<const Parts> parts_;
};

}  // namespace harn
