// SPDX-License-Identifier: Apache-2.0
// Running a planned command: the last step after policy and plan.
//
//   HARN_TRY(plan, make_plan(policy, command, facts));
//   HARN_TRY(outcome, run_plan(plan, {.streams = {Stream::empty, Stream::capture, Stream::capture}}));
//   if (!outcome.success()) …
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harn/audit.h"
#include "harn/outcome.h"
#include "harn/plan.h"

namespace harn {

enum class Stream : std::uint8_t {
  inherit,  // the caller's own descriptor, relayed where the command must not hold it
  capture,  // output: kept in the outcome. input: RunOptions::input is fed
  empty,    // /dev/null
  tap,      // the caller's own descriptor through a pipe of ours, each piece told to on_output or on_input
};

// Of each captured stream, where the plan has no output limit. What is past it is read and dropped.
inline constexpr std::uint64_t default_captured_bytes = 64u << 20;

enum class Output : std::uint8_t {
  out,
  err
};

// Called on the thread that runs the command, which waits for it: copy and return. The bytes are gone
// afterwards.
using OutputSink = std::function<void(Output which, std::string_view bytes)>;
// What is read for the command, on the same terms; `ended` once there is no more.
using InputSink = std::function<void(std::string_view bytes, bool ended)>;

struct RunOptions {
  std::array<Stream, 3> streams = {Stream::inherit, Stream::inherit, Stream::inherit};
  std::string input = {};
  std::uint64_t captured_bytes = default_captured_bytes;
  OutputSink on_output = {};               // told each piece of a captured or tapped stream as it comes, also past captured_bytes
  InputSink on_input = {};                 // told what comes through a tapped standard input
  RefusalSink on_refusal = {};             // told of each call that failed, where the plan explains (PlanOptions::explain)
  QuestionSink on_question = {};           // told of each call that waits for an answer, where the plan asks (PlanOptions::ask)
  HostQuestionSink on_host_question = {};  // told of each host a connection waits for, where the plan asks
  // Something of the caller's own to wait for beside the command: when it is readable, `attend` is called.
  int attend_fd = -1;
  std::function<void()> attend = {};
  // Asked at the end what of that the boundary refused; recorded and part of the outcome.
  std::function<std::vector<Denial>(const Outcome&)> denials = {};
  int stop_fd = -1;  // borrowed; once it is readable the command is ended as by a timeout: see Stop in harn/embed.h
  // The calling process exists for this one command (the CLI): signals it gets are passed on, orphans
  // of the command come to it, and its memory is hidden from its own user. Without it, and without a pid
  // namespace, what leaves the command's process group outlives the run.
  bool whole_process = false;
  bool receipt = true;                  // digesting a plan costs as much as making it: only where somebody reads it
  std::vector<AbsPath> workspace = {};  // where a repository of its own making is reported
  std::optional<AbsPath> canary = {};   // see ensure_canary()
  std::string run_id = {};              // empty = a new one
  // Borrowed; told when the command starts and how it ended. Under os_hardened a command does not start
  // when its start cannot be recorded.
  AuditSink* audit = nullptr;
  std::vector<AuditEvent> decided = {};   // recorded with the start, in one step
  std::vector<std::string> secrets = {};  // values that must not be recorded, wherever they stand in the command
  // Asked about names in restricted mode, ADDRESS or ADDRESS:PORT; empty = those of /etc/resolv.conf.
  std::vector<std::string> nameservers = {};
  // A Unix socket that listens (SOCK_SEQPACKET, borrowed): who knows the secret may name other hosts there while the command runs.
  struct RelayControl {
    int listener = -1;
    std::string secret = {};
  };
  RelayControl relay_control = {};
  std::optional<AbsPath> place = {};  // for private files of a container, where its engine sees them; unset = /var/tmp
};

// Runs it to the end; afterwards no process of it is left, or Outcome::error says which. An error means
// the command did not run.
Result<Outcome> run_plan(const Plan& plan, const RunOptions& options);

std::string make_run_id();  // "run-" and 16 hex digits

// A file of the caller's that no command may reach, made once; what is tried from inside before a
// command starts. Pick a directory the policy does not open.
Result<AbsPath> ensure_canary(const AbsPath& directory);

}  // namespace harn
