// SPDX-License-Identifier: Apache-2.0
// Audit: what was decided about commands and how they ended, in a log where every line carries the hash
// of the one before. A sink gets events; AuditLog is the sink that keeps them in files, AuditReport what
// can be said about such files later. docs/audit.md describes the format.
//
//   auto log = AuditLog::open({.directory = dir, .session_id = "build-7"});
//   HARN_TRY(outcome, run_plan(plan, {.audit = log.get()}));
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harn/path.h"
#include "harn/result.h"

namespace harn {

enum class AuditEventType : std::uint8_t {
  policy_loaded,
  policy_narrowed,
  plan_made,
  sandbox_fallback,
  sandbox_refused,
  exec_started,
  exec_finished,
  denial,
  session_provisioned,
  session_mounted,
  session_network_applied,
  session_suspended,
  session_resumed,
  session_snapshot,
  session_terminated,
  egress_allowed,
  egress_denied,
  ask_answered,  // what the operator said to a question of a command, or that nobody did
  log_repaired,  // what an interrupted writer left was put in order
  log_pruned,    // the oldest events were removed because the log was too large or they too old
  log_sealed,    // from here on the anchor is signed, with this key
};

// How much an append outlives: nothing is kept, the death of this process, or that of the machine.
enum class AuditMode : std::uint8_t {
  off,
  process,
  power
};

std::string_view name_of(AuditEventType type);
std::optional<AuditMode> parse_audit_mode(std::string_view text);

struct AuditEvent {
  AuditEventType type = AuditEventType::policy_loaded;
  std::string data = "{}";  // a JSON object
  bool canonical = false;   // it is known to be in the form that is hashed: sorted, without spaces, ASCII

  bool operator==(const AuditEvent&) const = default;
};

// Who gets events. An embedder's own sink may send them anywhere; it is called before a command starts
// and after it ended, from the thread that runs the command.
class AuditSink {
 public:
  AuditSink() = default;
  AuditSink(const AuditSink&) = delete;
  AuditSink& operator=(const AuditSink&) = delete;
  virtual ~AuditSink() = default;

  // All of them or none. Under os_hardened an error keeps the command from starting.
  virtual Status append(std::span<const AuditEvent> events) = 0;
};

// The table [audit] of a user's configuration; no policy and no project file can have it.
struct AuditSettings {
  std::optional<AuditMode> mode = {};                      // unset = by profile: power under os_hardened, else process
  std::uint64_t rotate_bytes = 8u << 20;                   // a file that is larger is followed by a new one
  std::uint64_t keep_bytes = 64u << 20;                    // the oldest files go when all are larger
  std::optional<std::chrono::milliseconds> keep_age = {};  // and when they were last written before this

  bool operator==(const AuditSettings&) const = default;
};

struct AuditLogOptions {
  AbsPath directory = {};
  std::string session_id = {};  // of every event appended: letters, digits, '.', '_' and '-'
  AuditMode durability = AuditMode::process;
  AuditSettings settings = {};
};

// One chain of events in one directory, whoever writes it: many processes may, and each sees the others'
// events as its own history. Threads may share one object.
class AuditLog final : public AuditSink {
 public:
  // Touches nothing yet: the first append makes the directory.
  static std::unique_ptr<AuditLog> open(AuditLogOptions options);
  ~AuditLog() override;

  Status append(std::span<const AuditEvent> events) override;

  // Makes a key pair, keeps the secret half beside the log, and signs the anchor from now on. Answers the
  // public half. An error when there is one already, unless it is to be replaced.
  Result<std::string> start_sealing(bool replace);

 private:
  class Writer;
  explicit AuditLog(std::unique_ptr<Writer> writer);
  std::unique_ptr<Writer> writer_;
};

// One line of a log. `data` is JSON text.
struct AuditRecord {
  std::uint64_t seq = 0;
  std::string event_id = {};
  std::string timestamp = {};
  std::string event_type = {};
  std::string session_id = {};
  std::string data = {};
  std::string prev_hash = {};
  std::string hash = {};

  bool operator==(const AuditRecord&) const = default;
};

struct AuditCheck {
  std::string public_key = {};  // hex; given from outside it beats what the log says about itself
  std::string expected = {};    // "SEQ:HASH" somebody noted earlier; a log that was rolled back has it no more
};

struct AuditReport {
  std::string problem = {};  // empty = intact
  std::string where = {};    // "00000000000000000001.jsonl:17"
  std::uint64_t events = 0;
  std::uint64_t first_seq = 0;
  std::uint64_t last_seq = 0;
  std::string last_hash = {};
  std::uint64_t removed_by_retention = 0;     // events 1 … this were removed, and the log says so itself
  std::vector<AuditRecord> repairs = {};      // every log_repaired
  std::optional<std::string> sealed_by = {};  // public key of a seal that is right
  bool interrupted = false;                   // a writer ended in the middle; the next one puts it in order

  bool intact() const { return problem.empty(); }
};

// Reads all of it. An error means that there is no log or that it cannot be read.
Result<AuditReport> verify_audit_log(const AbsPath& directory, const AuditCheck& check = {});

// Every event that can be read, in order, until `take` says false. An error names the first line that is
// none; what stood before it has been handed out.
Status read_audit_log(const AbsPath& directory, const std::function<bool(const AuditRecord&)>& take);

// The same, then waits for more, until `take` says false.
Status follow_audit_log(const AbsPath& directory, std::uint64_t after_seq, const std::function<bool(const AuditRecord&)>& take);

std::string audit_record_to_json(const AuditRecord& record);  // the line as it stands in the log
std::string audit_csv_header();
std::string audit_record_to_csv(const AuditRecord& record);

// Words without what looks like a secret (tokens, passwords, the login of a URL) and without any of
// `secrets`. What is too long is cut, what is no text is made visible.
std::vector<std::string> redacted_words(std::span<const std::string> words, std::span<const std::string> secrets);
std::string redacted_text(std::string_view text, std::span<const std::string> secrets = {});
// The same, but whatever is no secret stays byte for byte, however long it is.
std::vector<std::string> words_without_secrets(std::span<const std::string> words, std::span<const std::string> secrets);
std::string text_without_secrets(std::string_view text, std::span<const std::string> secrets = {});

}  // namespace harn
