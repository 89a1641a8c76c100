// SPDX-License-Identifier: Apache-2.0
// Answering from a tape. Nothing in this layer can start a process: it links nothing that could.
#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "plan/json_fields.h"
#include "tape/compare.h"
#include "tape/names.h"

namespace harn {
namespace {

template <class E, std::size_t Count>
E named(std::string_view text, E otherwise) {
  for (std::size_t i = 0; i < Count; ++i)
    if (name_of(static_cast<E>(i)) == text) return static_cast<E>(i);
  return otherwise;
}

Error error_of(const TapedError& taped) {
  constexpr auto codes = static_cast<std::size_t>(ErrorCode::internal) + 1;
  constexpr auto stages = static_cast<std::size_t>(Stage::cli) + 1;
  return {.code = named<ErrorCode, codes>(taped.code, ErrorCode::internal),
          .stage = named<Stage, stages>(taped.stage, Stage::spawn),
          .os_error = taped.os_error,
          .message = taped.message,
          .hint = taped.hint};
}

}  // namespace

std::string_view name_of(DivergenceKind kind) { return base::enum_name(kind); }
std::optional<DivergenceKind> parse_divergence_kind(std::string_view text) { return base::enum_value<DivergenceKind>(text); }

InputSource input_from(std::string bytes) {
  return [bytes = std::move(bytes), at = std::size_t{0}](std::size_t most) mutable {
    auto piece = bytes.substr(at, most);
    at += piece.size();
    return piece;
  };
}

Result<Outcome> outcome_of(const RunRecord& record) {
  if (record.error) return fail(error_of(*record.error));
  for (const auto* output : {&record.out, &record.err})
    if (!output->whole())
      return fail(Error{
          .code = ErrorCode::not_available,
          .stage = Stage::load,
          .message = fmt::format("the tape has only the first {} of {} bytes that the command wrote", output->bytes.size(), output->size),
          .hint = "record it with less output; --output-limit cuts it for the reader as well"});
  const auto end = record.end.value_or(TapedEnd{});
  Outcome outcome{.exit_code = end.exit_code,
                  .timed_out = end.timed_out,
                  .oom_killed = end.oom_killed,
                  .cpu_exceeded = end.cpu_exceeded,
                  .file_size_exceeded = end.file_size_exceeded,
                  .processes_exceeded = end.processes_exceeded,
                  .cancelled = end.cancelled,
                  .output_truncated = end.output_truncated,
                  .killed_processes = end.killed_processes,
                  .usage = {.wall_ms = end.wall_ms, .cpu_ms = end.cpu_ms, .max_memory_bytes = end.max_memory_bytes},
                  .captured_stdout = record.out.bytes,
                  .captured_stderr = record.err.bytes};
  // What was enforced then; of this host nothing is claimed.
  outcome.receipt = {.run_id = record.run_id,
                     .policy_digest = record.policy_digest,
                     .plan_digest = record.plan_digest,
                     .backend = record.backend,
                     .host = record.host + " (replayed)"};
  return outcome;
}

Replay::Replay(Tape tape, ReplayRules rules) : tape_(std::move(tape)), rules_(std::move(rules)), played_(tape_.records().size(), false) {}

std::vector<Divergence> Replay::compared(std::size_t index, const RunRecord& asked) const {
  return tape::compare(tape_.records()[index], asked, index + 1, rules_);
}

Result<Replayed> Replay::settle(std::size_t index, const InputSource& input, std::vector<Divergence> divergences) {
  if (divergences.empty() && !rules_.ignore.contains(DivergenceKind::stdin_))
    divergences = tape::compare_input(tape_.records()[index], input, index + 1);
  if (divergences.empty()) played_[index] = true;
  return Replayed{.divergences = std::move(divergences), .index = index};
}

Replayed Replay::not_there(const RunRecord& asked) const {
  const auto& records = tape_.records();
  const auto before = std::ranges::find(records, asked.argv, &RunRecord::argv);
  const auto exec = before == records.end() ? 0 : static_cast<std::size_t>(before - records.begin()) + 1;
  const auto recorded = exec != 0 ? fmt::format("only as exec {}, which was played already", exec)
                                  : fmt::format("nothing like it among {} execs", records.size());
  return {.divergences = {{.kind = DivergenceKind::extra, .exec = exec, .recorded = recorded, .now = tape::words_text(asked.argv)}}};
}

// The same command may be recorded with several inputs; only what comes in says which of them this is.
Result<Replayed> Replay::choose(const std::vector<std::size_t>& fitting, const InputSource& input) {
  std::vector<const RunRecord*> recorded;
  for (const auto i : fitting) recorded.push_back(&tape_.records()[i]);
  const auto given =
      rules_.ignore.contains(DivergenceKind::stdin_) ? std::vector<bool>(fitting.size(), true) : tape::given_this(recorded, input);
  Replayed out;
  bool found = false;
  for (std::size_t i = 0; i < fitting.size(); ++i) {
    if (!given[i]) continue;
    if (found) out.others.push_back(fitting[i]);
    else out.index = fitting[i];
    found = true;
  }
  if (found) {
    played_[out.index] = true;
    return out;
  }
  std::string inputs;
  for (const auto* record : recorded) inputs += (inputs.empty() ? "" : ", or ") + tape::input_text(record->input);
  return Replayed{
      .divergences = {{.kind = DivergenceKind::stdin_, .exec = fitting.front() + 1, .recorded = std::move(inputs), .now = "none of them"}},
      .index = fitting.front()};
}

Result<Replayed> Replay::next(const RunRecord& asked, const InputSource& input) {
  const auto& records = tape_.records();
  std::optional<std::size_t> same;  // the first that is this command
  std::optional<std::size_t> first;
  std::vector<std::size_t> fitting;  // all of them that differ in nothing but perhaps their input
  const bool any_place = rules_.ignore.contains(DivergenceKind::order);
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (played_[i]) continue;
    if (!first) first = i;
    if (!same && records[i].argv == asked.argv) same = i;
    if (any_place && records[i].argv == asked.argv && compared(i, asked).empty()) fitting.push_back(i);
    if (!any_place && same) break;
  }
  if (!first || (any_place && !same)) return not_there(asked);
  if (fitting.size() > 1) return choose(fitting, input);
  if (!fitting.empty()) return settle(fitting.front(), input, {});
  if (any_place || same == first) return settle(*same, input, compared(*same, asked));
  if (same)
    return Replayed{.divergences = {{.kind = DivergenceKind::order,
                                     .exec = *same + 1,
                                     .recorded = fmt::format("exec {} is {}", *first + 1, tape::words_text(records[*first].argv)),
                                     .now = fmt::format("{}, which is exec {}", tape::words_text(asked.argv), *same + 1)}},
                    .index = *same};
  if (auto known = not_there(asked); known.divergences[0].exec != 0) return known;
  return settle(*first, input, compared(*first, asked));
}

std::vector<Divergence> Replay::end() const {
  std::vector<Divergence> out;
  for (std::size_t i = 0; i < played_.size(); ++i)
    if (!played_[i] && !rules_.ignore.contains(DivergenceKind::missing))
      out.push_back({.kind = DivergenceKind::missing,
                     .exec = i + 1,
                     .recorded = tape::words_text(tape_.records()[i].argv),
                     .now = "was never asked for"});
  return out;
}

std::string divergences_to_json(const std::vector<Divergence>& divergences, int indent) {
  base::Array rows;
  for (const auto& divergence : divergences) {
    base::Value row;
    row.set("kind", name_of(divergence.kind));
    if (divergence.exec != 0) row.set("exec", std::uint64_t{divergence.exec});
    row.set("recorded", plan::write_text(divergence.recorded));
    row.set("now", plan::write_text(divergence.now));
    rows.push_back(std::move(row));
  }
  base::Value out;
  out.set("divergences", std::move(rows));
  return base::print_json(out, indent);
}

std::string divergences_text(const std::vector<Divergence>& divergences) {
  std::string out;
  for (const auto& divergence : divergences) {
    out += fmt::format("{}{}\n", name_of(divergence.kind), divergence.exec == 0 ? "" : fmt::format(" (exec {})", divergence.exec));
    out += fmt::format("  recorded: {}\n  now:      {}\n", base::one_line(divergence.recorded), base::one_line(divergence.now));
  }
  return out;
}

}  // namespace harn
