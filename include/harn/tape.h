// SPDX-License-Identifier: Apache-2.0
// Tapes: what commands were run, under which policy, and every byte they answered, so that the answers can be given again without
// running anything. docs/replay.md describes the file and what is compared.
//
//   HARN_TRY(writer, TapeWriter::open(path));             // recording: Context{.tape = &writer}
//   HARN_TRY(tape, Tape::open(path));                     // replaying: Replay replay(std::move(tape)); Context{.replay = &replay}
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harn/outcome.h"
#include "harn/path.h"
#include "harn/policy.h"
#include "harn/result.h"

namespace harn {

// Of each output; what is past it is counted and hashed, and a replay refuses to pretend it had it.
inline constexpr std::uint64_t taped_bytes = 64u << 20;

struct TapedOutput {
  std::uint64_t size = 0;
  std::string sha256 = {};  // of all of it
  std::string bytes = {};   // what the tape keeps: all of it, or its beginning

  bool whole() const { return bytes.size() == size; }
  bool operator==(const TapedOutput&) const = default;
};

// What was read for the command; only its hash is kept.
struct TapedInput {
  std::uint64_t size = 0;
  std::string sha256 = {};
  bool ended = true;  // false: there may have been more that the command did not wait for

  bool operator==(const TapedInput&) const = default;
};

struct TapedEnd {
  int exit_code = 0;  // negative = ended by that signal
  bool timed_out = false;
  bool oom_killed = false;
  bool cpu_exceeded = false;
  bool file_size_exceeded = false;
  bool processes_exceeded = false;
  bool cancelled = false;
  bool output_truncated = false;
  std::uint64_t killed_processes = 0;
  std::uint64_t wall_ms = 0;
  std::uint64_t cpu_ms = 0;
  std::uint64_t max_memory_bytes = 0;

  bool operator==(const TapedEnd&) const = default;
};

// The command did not run: what was said instead.
struct TapedError {
  std::string code = {};
  std::string stage = {};
  int os_error = 0;
  std::string message = {};
  std::string hint = {};

  bool operator==(const TapedError&) const = default;
};

// One run. Secrets are taken out of everything but the outputs; `redacted` says that something was.
struct RunRecord {
  std::string run_id = {};
  std::string recorded_at = {};
  std::vector<std::string> argv = {};
  AbsPath cwd = {};
  std::map<std::string, std::string> env = {};  // name → digest of its value; "redacted" where the value is nobody's business
  std::string env_digest = {};                  // of all of them
  TapedInput input = {};
  Profile profile = Profile::worktree;
  Policy policy = {};
  std::string policy_digest = {};  // of the policy above; a secret in it could be guessed from any other
  std::string plan_digest = {};    // empty where the plan held a secret
  std::string backend = {};
  std::string host = {};
  bool redacted = false;
  std::optional<TapedEnd> end = {};
  std::optional<TapedError> error = {};  // exactly one of the two is set once the run is over
  TapedOutput out = {};
  TapedOutput err = {};

  bool operator==(const RunRecord&) const = default;
};

std::string run_record_to_json(const RunRecord& record, int indent = 2);  // "harn.run_record.v1"
Result<RunRecord> run_record_from_json(std::string_view text);

// How it ended, as it was told then; an error where it did not run, or where the tape does not have all of its output.
Result<Outcome> outcome_of(const RunRecord& record);

// Appends runs, each in one piece: several processes may write one tape. Threads may share one object.
class TapeWriter {
 public:
  // Makes the file where there is none, for its owner only. An error for what is no tape, or is not as it was written, or would be
  // reached through a link that a command could have made.
  static Result<TapeWriter> open(const AbsPath& path);
  TapeWriter(TapeWriter&& other) noexcept;
  TapeWriter& operator=(TapeWriter&& other) noexcept;
  ~TapeWriter();

  const AbsPath& path() const;  // links resolved: what no command may reach
  const std::string& salt() const;
  Status append(const RunRecord& record);

 private:
  struct Parts;
  explicit TapeWriter(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// A tape that was read and is what its writers wrote.
class Tape {
 public:
  static Result<Tape> open(const AbsPath& path);
  Tape(Tape&& other) noexcept;
  Tape& operator=(Tape&& other) noexcept;
  ~Tape();

  const AbsPath& path() const;                    // links resolved: what no command may reach
  const std::string& salt() const;                // what digests of variables on it begin with; empty on tapes of the first format
  std::uint64_t names() const;                    // how many it has: more than one is a way around whatever closes the path
  const std::vector<RunRecord>& records() const;  // in the order in which they ended; without the bytes of outputs
  Result<RunRecord> whole(std::size_t index) const;
  const std::string& id() const;         // of this tape, whatever is appended later
  std::uint64_t torn_bytes() const;      // behind the last whole record: a writer was killed
  bool torn() const;                     // … even where it left nothing
  std::uint64_t repaired_times() const;  // how often a later writer found that, and went on

 private:
  struct Parts;
  explicit Tape(std::unique_ptr<const Parts> parts);
  std::unique_ptr<const Parts> parts_;
};

enum class DivergenceKind : std::uint8_t {
  argv,
  cwd,
  env,
  stdin_,
  policy,
  order,    // recorded, but at another place
  missing,  // recorded, and never asked for
  extra,    // asked for, and not recorded (any more)
};
std::string_view name_of(DivergenceKind kind);
std::optional<DivergenceKind> parse_divergence_kind(std::string_view text);

// Both sides, in words.
struct Divergence {
  DivergenceKind kind = DivergenceKind::argv;
  std::size_t exec = 0;  // the record it is about, counted from 1; 0 = none
  std::string recorded = {};
  std::string now = {};

  bool operator==(const Divergence&) const = default;
};
std::string divergences_to_json(const std::vector<Divergence>& divergences, int indent = 2);
// One line per divergence and side, for people.
std::string divergences_text(const std::vector<Divergence>& divergences);

// Strict unless something is named here.
struct ReplayRules {
  std::set<DivergenceKind> ignore = {};
  std::set<std::string> ignore_env = {};  // variables that may differ
};

// Gives up to `most` bytes of what the command would read; fewer = that was all.
using InputSource = std::function<std::string(std::size_t most)>;
InputSource input_from(std::string bytes);

struct Replayed {
  std::vector<Divergence> divergences = {};  // empty = it is the recorded run
  std::size_t index = 0;
  std::vector<std::size_t> others = {};  // records that are this run just as well, where any place will do
};

// Answers from a tape, in the order of the tape; nothing is ever started.
class Replay {
 public:
  explicit Replay(Tape tape, ReplayRules rules = {});

  const Tape& tape() const { return tape_; }
  // The next record, where it is this run (see describe_run()); it counts as played then.
  Result<Replayed> next(const RunRecord& asked, const InputSource& input);
  std::vector<Divergence> end() const;  // what was never asked for

  const std::vector<bool>& played() const { return played_; }
  void set_played(std::vector<bool> played) { played_ = std::move(played); }

 private:
  Result<Replayed> settle(std::size_t index, const InputSource& input, std::vector<Divergence> divergences);
  Result<Replayed> choose(const std::vector<std::size_t>& fitting, const InputSource& input);
  Replayed not_there(const RunRecord& asked) const;
  std::vector<Divergence> compared(std::size_t index, const RunRecord& asked) const;

  Tape tape_;
  ReplayRules rules_;
  std::vector<bool> played_;
};

// A run before it starts, as it is recorded and compared. `environment` is the caller's, before the policy's rules.
struct RunDescription {
  const Policy& policy;
  const std::vector<std::string>& argv;
  const AbsPath& cwd;
  const std::map<std::string, std::string>& environment;
  const std::vector<std::string>& secrets;
  std::string_view salt = {};  // of the tape it goes to, or is compared with
};
RunRecord describe_run(const RunDescription& run);

}  // namespace harn
