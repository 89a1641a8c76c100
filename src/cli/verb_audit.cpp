// SPDX-License-Identifier: Apache-2.0
// harn audit …: the log for people and programs.
#include <algorithm>
#include <charconv>
#include <deque>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/load.h"
#include "cli/render.h"
#include "cli/verbs.h"
#include "harn/audit.h"
#include "harn/sandbox.h"
#include "host/user_files.h"

namespace harn::cli {
namespace {

constexpr std::size_t tail_lines = 10;
constexpr std::size_t longest_key_file = 4096;

Result<AbsPath> log_directory(const Arguments& arguments, const Caller& caller) {
  if (const auto* text = arguments.value("dir")) return path_argument(*text, path_context(caller));
  return audit_directory(caller);
}

constexpr std::size_t key_digits = 64;

bool is_key(std::string_view word) {
  return word.size() == key_digits && word.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// The key itself, or a file that holds it.
Result<std::string> public_key(const Arguments& arguments, const Caller& caller) {
  const auto* text = arguments.value("key");
  if (text == nullptr || is_key(*text)) return text == nullptr ? std::string() : *text;
  HARN_TRY(path, path_argument(*text, path_context(caller)));
  HARN_TRY(content, host::read_user_file(path, longest_key_file));
  content.erase(content.find_last_not_of(" \n") + 1);
  if (is_key(content)) return content;
  return wrong_usage(fmt::format("--key: {} holds no public key", base::quoted(*text)),
                     "a public key has 64 hex digits; 'harn audit keygen' prints it");
}

Result<std::size_t> line_count(const Arguments& arguments, std::size_t otherwise) {
  const auto* text = arguments.value("lines");
  if (text == nullptr) return otherwise;
  std::size_t count = 0;
  const auto [end, problem] = std::from_chars(text->data(), text->data() + text->size(), count);
  if (problem == std::errc() && end == text->data() + text->size()) return count;
  return wrong_usage(fmt::format("--lines: {} is not a whole number", base::quoted(*text)), "write digits only");
}

std::string value_text(const base::Value& value) {
  if (value.is(base::ValueKind::string)) return value.string();
  if (!value.is(base::ValueKind::array)) return base::print_json(value);
  std::vector<std::string> words;
  for (const auto& entry : value.array())
    words.push_back(entry.is(base::ValueKind::string) ? base::shell_word(entry.string()) : base::print_json(entry));
  return base::join(words, " ");
}

// What matters most of an event, in the order in which it is looked for.
std::string summary_of(const AuditRecord& record) {
  static constexpr std::string_view names[] = {"argv",    "exit_code", "timed_out", "oom_killed", "cpu_exceeded",  "error",
                                               "message", "call",      "target",    "host",       "policy_digest", "backend",
                                               "to",      "reason",    "taken",     "lost",       "removed_to",    "public_key"};
  const auto data = base::parse_json(record.data);
  if (!data) return {};
  std::vector<std::string> parts;
  for (const auto name : names) {
    const auto* member = data->find(name);
    if (member == nullptr) continue;
    const auto text = value_text(*member);
    parts.push_back(name == "argv" || name == "message" ? text : fmt::format("{}={}", name, text));
  }
  return base::join(parts, " ");
}

std::string line_of(const AuditRecord& record, bool json) {
  if (json) return audit_record_to_json(record) + "\n";
  // A command's own characters must not drive the terminal or turn the line around.
  return base::one_line(fmt::format("{:>6}  {}  {:<16}  {}  {}", record.seq, record.timestamp.substr(0, 19), record.event_type,
                                    record.session_id, summary_of(record))) +
         "\n";
}

// All runs of a program that embeds Harn share a session; each has the number of its receipt besides.
bool belongs_to(const AuditRecord& record, const std::string& session) {
  if (record.session_id == session) return true;
  const auto data = base::parse_json(record.data);
  const auto* run = data ? data->find("run_id") : nullptr;
  return run != nullptr && value_text(*run) == session;
}

// Standard output as it goes, so that a long log is never in memory as a whole.
bool say(const Caller& caller, Reply& reply, const std::string& text) {
  if (caller.write != nullptr) return caller.write(text);
  reply.out += text;
  return true;
}

// What was readable has been said; what is not must not look like an end.
Result<Reply> ended(Reply reply, const Status& read) {
  if (read) return reply;
  if (read.error().code != ErrorCode::protocol) return fail(read.error());
  reply.exit_code = exit_no;
  reply.err += error_text(read.error());
  return reply;
}

base::Value report_value(const AuditReport& report) {
  base::Value out;
  out.set("ok", report.intact());
  if (!report.intact()) {
    out.set("problem", report.problem);
    out.set("where", report.where);
  }
  out.set("events", report.events);
  out.set("first_seq", report.first_seq);
  out.set("last_seq", report.last_seq);
  out.set("last_hash", report.last_hash);
  out.set("removed_by_retention", report.removed_by_retention);
  base::Array repairs;
  for (const auto& record : report.repairs) repairs.push_back(base::parse_json(audit_record_to_json(record)).value_or(base::Value()));
  out.set("repairs", std::move(repairs));
  out.set("interrupted", report.interrupted);
  if (report.sealed_by) out.set("sealed_by", *report.sealed_by);
  return out;
}

std::string report_text(const AuditReport& report, const AbsPath& directory) {
  std::string out;
  if (report.intact())
    out += fmt::format("ok: {} events, {} to {}, as they were written\n  head {}:{}\n", report.events, report.first_seq, report.last_seq,
                       report.last_seq, report.last_hash);
  else out += fmt::format("NOT as it was written: {}\n  at {}\n", report.problem, directory.join(report.where).text());
  if (report.sealed_by) out += fmt::format("  sealed with {}\n", *report.sealed_by);
  if (report.removed_by_retention != 0) out += fmt::format("  events 1 to {} were removed by retention\n", report.removed_by_retention);
  if (report.interrupted) out += "  a writer was interrupted; the next run puts that in order and says so\n";
  for (const auto& record : report.repairs)
    out += fmt::format("  repaired: event {} of {}: {}\n", record.seq, record.timestamp, summary_of(record));
  return out;
}

}  // namespace

Result<Reply> audit_verify(const Arguments& arguments, const Caller& caller) {
  HARN_TRY(directory, log_directory(arguments, caller));
  AuditCheck check;
  HARN_TRY(key, public_key(arguments, caller));
  check.public_key = std::move(key);
  if (const auto* expected = arguments.value("expect")) check.expected = *expected;
  HARN_TRY(report, verify_audit_log(directory, check));
  Reply reply{.exit_code = report.intact() ? 0 : exit_no};
  reply.out = arguments.has("json") ? base::print_json(report_value(report), 2) + "\n" : report_text(report, directory);
  return reply;
}

Result<Reply> audit_show(const Arguments& arguments, const Caller& caller) {
  HARN_TRY(directory, log_directory(arguments, caller));
  HARN_TRY(count, line_count(arguments, 0));
  const auto& types = arguments.all("type");
  const auto* session = arguments.value("session");
  Reply reply;
  std::deque<std::string> last;
  const auto read = read_audit_log(directory, [&](const AuditRecord& record) {
    if (session != nullptr && !belongs_to(record, *session)) return true;
    if (!types.empty() && std::ranges::find(types, record.event_type) == types.end()) return true;
    auto line = line_of(record, arguments.has("json"));
    if (count == 0) return say(caller, reply, line);
    last.push_back(std::move(line));
    if (last.size() > count) last.pop_front();
    return true;
  });
  for (const auto& line : last) say(caller, reply, line);
  return ended(std::move(reply), read);
}

Result<Reply> audit_tail(const Arguments& arguments, const Caller& caller) {
  HARN_TRY(directory, log_directory(arguments, caller));
  HARN_TRY(count, line_count(arguments, tail_lines));
  Reply reply;
  std::deque<AuditRecord> last;
  std::uint64_t seen = 0;
  auto read = read_audit_log(directory, [&](const AuditRecord& record) {
    seen = record.seq;
    last.push_back(record);
    if (last.size() > count) last.pop_front();
    return true;
  });
  for (const auto& record : last) say(caller, reply, line_of(record, arguments.has("json")));
  if (read && arguments.has("follow"))
    read = follow_audit_log(directory, seen,
                            [&](const AuditRecord& record) { return say(caller, reply, line_of(record, arguments.has("json"))); });
  return ended(std::move(reply), read);
}

Result<Reply> audit_export(const Arguments& arguments, const Caller& caller) {
  HARN_TRY(directory, log_directory(arguments, caller));
  const auto* format = arguments.value("format");
  const bool csv = format != nullptr && *format == "csv";
  Reply reply;
  bool first = true;
  const auto read = read_audit_log(directory, [&](const AuditRecord& record) {
    auto text =
        csv ? (first ? audit_csv_header() : "") + audit_record_to_csv(record) : (first ? "[\n" : ",\n") + audit_record_to_json(record);
    first = false;
    return say(caller, reply, text);
  });
  if (!csv && !first) say(caller, reply, "\n]\n");
  return ended(std::move(reply), read);
}

Result<Reply> audit_keygen(const Arguments& arguments, const Caller& caller) {
  const auto log = AuditLog::open({.directory = audit_directory(caller), .session_id = make_run_id(), .durability = AuditMode::power});
  HARN_TRY(key, log->start_sealing(arguments.has("replace")));
  if (!arguments.has("json"))
    return Reply{.out = fmt::format("{}\n", key),
                 .err = "harn: note: keep this public key elsewhere; 'harn audit verify --key' checks the seal with it\n"};
  base::Value out;
  out.set("public_key", key);
  return Reply{.out = base::print_json(out, 2) + "\n"};
}

}  // namespace harn::cli
