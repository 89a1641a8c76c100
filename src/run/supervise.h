// SPDX-License-Identifier: Apache-2.0
// Holds a running command until nothing of it is left: passes bytes and signals, keeps the deadline,
// ends the tree, and says how it ended. One poll loop, no thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "harn/outcome.h"
#include "run/launch.h"
#include "run/stdio.h"

namespace harn::run {

// Which limit of the tree is spent, as counted from outside.
enum class Spent : std::uint8_t {
  nothing,
  memory,
  cpu,
  processes
};

struct Reading {
  Spent spent = Spent::nothing;
  bool started = false;                 // with start_within: the command runs now, and its time begins
  bool end = false;                     // it must not go on
  std::chrono::milliseconds again{50};  // when to look next
};

// When it is readable, `attend` is called, until that says there is nothing more to wait for.
struct Attended {
  int fd = -1;
  std::function<bool()> attend = {};
};

struct SuperviseSettings {
  const LimitPlan& limits;
  Session session = Session::own;
  std::uint64_t captured_bytes = default_captured_bytes;       // of each stream, without an output limit
  OutputSink on_output = {};                                   // told each captured piece as it comes
  InputSink on_input = {};                                     // told what comes through a tapped standard input
  RefusalSink on_refusal = {};                                 // told what the supervisor program tells
  QuestionSink on_question = {};                               // … and what it asks
  std::array<Attended, 2> attended = {};                       // others to be waited for beside the command
  int signal_fd = -1;                                          // a signalfd of the caller; what arrives is passed on
  int stop_fd = -1;                                            // readable = the caller wants the command ended
  bool reaper = false;                                         // orphans of the tree come to us (PR_SET_CHILD_SUBREAPER)
  std::optional<std::chrono::milliseconds> start_within = {};  // until check() says `started`; unset = it runs already
  std::function<Reading()> check = {};                         // asked again and again, and once at the end
  std::function<void(std::uint64_t)> shared_memory = {};       // told what the init program measures; empty = not asked
  std::function<void()> before_orphans = {};                   // children of the caller's own are to be ended here, or are ended with them
  std::function<void()> kill_tree = {};                        // a cgroup's own way to end everybody; may be empty
};

Result<Outcome> supervise(Process process, Stdio stdio, const SuperviseSettings& settings);

}  // namespace harn::run
