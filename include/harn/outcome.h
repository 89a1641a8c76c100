// SPDX-License-Identifier: Apache-2.0
// Outcome: how one command ended, what it used and what it said. A command that failed, was killed or
// ran into a limit is an Outcome; an Error means that it did not run, or that we lost control of it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harn/receipt.h"

namespace harn {

struct Usage {
  std::uint64_t wall_ms = 0;
  std::uint64_t cpu_ms = 0;            // of every process of the tree that was reaped
  std::uint64_t max_memory_bytes = 0;  // of the tree where a cgroup counts it, else of its largest process; 0 = not known
  std::uint64_t written_bytes = 0;     // to file systems on disks, of every process that was reaped
  std::uint64_t processes = 0;         // the most at one time, where they were counted; 0 = not counted

  bool operator==(const Usage&) const = default;
};

// One access the boundary refused, reported only when it is known to have been the boundary.
struct Denial {
  std::string access = {};                  // "read" "write" "create" "remove" "change" "find" "run" "connect" "host" "call" "limit"
  std::string call = {};                    // system call; with "host" what was tried: "resolve" "connect" "udp"; empty with "limit"
  std::string target = {};                  // resolved path, address, …
  std::string rule = {};                    // what refused it
  std::string remedy = {};                  // the smallest flags that would allow it; empty = no flag does, see `hint`
  std::string hint = {};                    // what else to know: a policy member, or why nothing opens it
  std::vector<std::string> processes = {};  // who did it, from the command down: "sh[2]" "cat[3]"

  bool operator==(const Denial&) const = default;
};

// One host a command reached through Harn's relay, in restricted mode.
struct Contact {
  std::string host = {};  // the name it was reached by, or the address
  std::uint16_t port = 0;
  std::uint64_t connections = 0;
  std::uint64_t failed = 0;  // attempts that did not reach it
  std::uint64_t sent_bytes = 0;
  std::uint64_t received_bytes = 0;

  bool operator==(const Contact&) const = default;
};

// What a system call that failed wanted. Whether the boundary refused it is not known yet.
enum class Wanted : std::uint8_t {
  reading,
  writing,
  making,
  removing,
  metadata,
  finding,
  running,
  reaching,
  calling
};
struct Refused {
  std::string call = {};
  Wanted wanted = Wanted::calling;
  std::string target = {};     // where the path leads inside; with reaching also an address as the kernel has it
  int error = 0;               // 0 = it went on, and how it ended is not known
  bool worked = false;         // nothing failed: told only where everything is recorded (PlanOptions::record)
  std::uint64_t question = 0;  // the call waits for an answer (PlanOptions::ask)
  bool gone = false;           // … and now nobody does
  std::array<std::uint64_t, 3> arguments = {};
  std::vector<std::string> processes = {};
};
using RefusalSink = std::function<void(const Refused&)>;
// The word on one question; with yes a descriptor, which stays the caller's: the file opened as asked, or a socket that is
// connected. Only while the command runs, and once.
using QuestionAnswer = std::function<void(bool allowed, int descriptor)>;
using QuestionSink = std::function<void(const Refused&, const QuestionAnswer&)>;

// A host no rule admits, and a connection that waits for the word on it.
struct HostQuestion {
  std::uint64_t question = 0;
  bool gone = false;        // nobody waits any more
  std::string target = {};  // "example.org:443"
};
using HostQuestionSink = std::function<void(const HostQuestion&, const std::function<void(bool allowed)>& answer)>;

struct Outcome {
  int exit_code = 0;  // negative = ended by that signal
  bool timed_out = false;
  bool oom_killed = false;
  bool cpu_exceeded = false;
  bool file_size_exceeded = false;
  bool processes_exceeded = false;
  bool cancelled = false;              // the caller ended it (RunOptions::stop_fd)
  bool output_truncated = false;       // at a limit, or because nobody took it before the time was over
  std::uint64_t killed_processes = 0;  // still alive when the command ended
  std::string not_recorded = {};       // why the audit log lacks this run or its end; empty = it does not, or nobody wanted one
  std::string error = {};              // what harn could not do although the command ran; empty = nothing
  Usage usage = {};
  std::optional<std::string> captured_stdout = {};  // unset = went to the caller's own descriptor
  std::optional<std::string> captured_stderr = {};
  std::vector<std::string> appeared = {};         // protected names that were not there before; also what cannot be looked at now
  std::vector<std::string> created_trusted = {};  // repositories the command made itself
  std::vector<Denial> denials = {};
  std::vector<Contact> contacted = {};  // in restricted mode
  std::string relay_lost = {};          // why what was reached and refused is not known in full; empty = it is
  Receipt receipt = {};

  bool success() const { return exit_code == 0 && !timed_out && !cancelled && error.empty(); }
  bool operator==(const Outcome&) const = default;
};

std::string outcome_to_json(const Outcome& outcome, int indent = 2);
// The same text piece by piece: captured output can be long, and escaping can make it six times longer.
void write_outcome_json(Outcome outcome, int indent, const std::function<void(std::string_view)>& sink);

}  // namespace harn
