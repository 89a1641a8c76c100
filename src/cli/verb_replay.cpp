// SPDX-License-Identifier: Apache-2.0
// harn replay: what commands answered when they were recorded, answered again. Nothing is started, and what this host could enforce
// is not asked either.
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/load.h"
#include "cli/prepare.h"
#include "cli/render.h"
#include "cli/run_steps.h"
#include "cli/verbs.h"
#include "embed/cursor.h"
#include "embed/taping.h"
#include "plan/names.h"

namespace harn::cli {
namespace {

Result<ReplayRules> rules_from(const Arguments& arguments) {
  ReplayRules rules{.ignore_env = {arguments.all("ignore-env").begin(), arguments.all("ignore-env").end()}};
  for (const auto& word : arguments.all("ignore"))
    if (const auto kind = parse_divergence_kind(word)) rules.ignore.insert(*kind);
  // One command without a cursor has no place to be at; at() and the cursor give it one.
  if (!arguments.has("cursor")) rules.ignore.insert(DivergenceKind::order);
  return rules;
}

Result<std::optional<std::size_t>> place_from(const Arguments& arguments, std::size_t count) {
  const auto* text = arguments.value("at");
  if (text == nullptr) return std::optional<std::size_t>();
  std::size_t number = 0;
  const auto [end, problem] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (problem == std::errc() && end == text->data() + text->size() && number >= 1 && number <= count)
    return std::optional<std::size_t>(number - 1);
  return wrong_usage(fmt::format("--at: {} is no exec of this tape", base::quoted(*text)),
                     fmt::format("it has {}; 'harn replay --list' shows them", count));
}

std::string tape_lines(const Tape& tape) {
  std::string out;
  if (tape.torn())
    out += fmt::format("harn: warning: a writer was killed: the {} bytes it left behind exec {} are not used\n", tape.torn_bytes(),
                       tape.records().size());
  if (tape.repaired_times() != 0)
    out += fmt::format("harn: note: {} {} lost on this tape because their writer was killed\n", tape.repaired_times(),
                       tape.repaired_times() == 1 ? "run was" : "runs were");
  return out;
}

// "exit 3", "signal 9", "timed out", "did not start".
std::string ending_of(const RunRecord& record) {
  if (record.error) return "did not start";
  const auto end = record.end.value_or(TapedEnd{});
  std::string out = end.exit_code < 0 ? fmt::format("signal {}", -end.exit_code) : fmt::format("exit {}", end.exit_code);
  for (const auto& [is_set, word] :
       {std::pair{end.timed_out, "timed out"}, {end.oom_killed, "out of memory"}, {end.cancelled, "cancelled"}})
    if (is_set) out += fmt::format(", {}", word);
  return out;
}

Reply list_of(const Tape& tape) {
  Reply reply{.err = tape_lines(tape)};
  for (std::size_t i = 0; i < tape.records().size(); ++i) {
    const auto& record = tape.records()[i];
    std::vector<std::string> words;
    for (const auto& word : record.argv) words.push_back(base::shell_word(word));
    reply.out += base::one_line(fmt::format("{:>5}  {}  {:<12} {:>7} ms  {:>9}+{} bytes  {}  {}", i + 1, record.recorded_at.substr(0, 19),
                                            base::enum_name(record.profile), record.end.value_or(TapedEnd{}).wall_ms, record.out.size,
                                            record.err.size, ending_of(record), base::join(words, " "))) +
                 "\n";
  }
  return reply;
}

bool say(const Caller& caller, Reply& reply, std::string_view text) {
  if (caller.write != nullptr) return caller.write(text);
  reply.out += text;
  return true;
}

// As the run itself would have: output to output, errors to errors, and its exit code.
Result<int> play(const RunRecord& record, const Caller& caller, Reply& reply) {
  HARN_TRY(outcome, outcome_of(record));
  say(caller, reply, *outcome.captured_stdout);
  caller.tell(*outcome.captured_stderr);
  return exit_code_of(outcome);
}

Result<Reply> answer_with(const Tape& tape, std::size_t index, bool json, const Caller& caller) {
  HARN_TRY(record, tape.whole(index));
  Reply reply;
  if (json) {
    HARN_TRY(outcome, outcome_of(record));
    reply.out = run_record_to_json(record) + "\n";
    reply.exit_code = exit_code_of(outcome);
    return reply;
  }
  HARN_TRY(code, play(record, caller, reply));
  reply.exit_code = code;
  return reply;
}

// The whole tape, in its order; what did not start is said and goes on.
Result<Reply> play_all(const Tape& tape, bool json, const Caller& caller) {
  Reply reply;
  caller.tell(tape_lines(tape));
  for (std::size_t i = 0; i < tape.records().size(); ++i) {
    HARN_TRY(record, tape.whole(i));
    if (json) {
      say(caller, reply, run_record_to_json(record, -1) + "\n");
      const auto outcome = outcome_of(record);
      if (!outcome && !record.error) return fail(outcome.error());
      reply.exit_code = outcome ? exit_code_of(*outcome) : exit_code_instead_of_command(outcome.error());
      continue;
    }
    const auto code = play(record, caller, reply);
    if (!code && !record.error) return fail(code.error());
    if (!code) caller.tell(error_text(code.error()));
    reply.exit_code = code ? *code : exit_code_instead_of_command(code.error());
  }
  return reply;
}

Reply divergence_reply(const std::vector<Divergence>& divergences, bool json) {
  if (json) return {.exit_code = exit_refused, .out = divergences_to_json(divergences) + "\n"};
  return {.exit_code = exit_refused, .err = error_text(embed::diverged(divergences))};
}

// The same command may have answered differently: then somebody has to say which run is meant.
Status check_unambiguous(const Replay& replay, const Replayed& answer) {
  const auto& records = replay.tape().records();
  const auto& chosen = records[answer.index];
  const auto other = std::ranges::find_if(answer.others, [&](std::size_t i) {
    const auto& record = records[i];
    return record.out.sha256 != chosen.out.sha256 || record.err.sha256 != chosen.err.sha256 || ending_of(record) != ending_of(chosen);
  });
  if (other == answer.others.end()) return {};
  return fail(Error{.code = ErrorCode::invalid_command,
                    .stage = Stage::cli,
                    .message = fmt::format("exec {} and exec {} are the same command with different answers", answer.index + 1, *other + 1),
                    .hint = "say which with --at N, or play them in order with --cursor FILE"});
}

Result<Replay> opened(const Arguments& arguments, const Caller& caller) {
  HARN_TRY(path, path_argument(arguments.operands()[0], path_context(caller)));
  HARN_TRY(tape, Tape::open(path));
  HARN_TRY(rules, rules_from(arguments));
  return Replay(std::move(tape), std::move(rules));
}

// Only the one that is asked for may answer, and not a second time.
void leave_only(std::size_t index, Replay& replay) {
  std::vector<bool> played(replay.played().size(), true);
  played[index] = replay.played()[index];
  replay.set_played(std::move(played));
}

Result<Reply> play_one(const Arguments& arguments, const Caller& caller, Replay& replay) {
  const bool json = arguments.has("json");
  std::optional<embed::Cursor> cursor;
  if (const auto* text = arguments.value("cursor")) {
    HARN_TRY(path, path_argument(*text, path_context(caller)));
    HARN_TRY(opened, embed::Cursor::open(path, replay));
    cursor.emplace(std::move(opened));
  }
  HARN_TRY(place, place_from(arguments, replay.tape().records().size()));
  const auto before = replay.played();
  // Whichever way it was found, that one was played, and no other.
  const auto remember = [&](std::size_t index) -> Status {
    auto marks = before;
    marks[index] = true;
    replay.set_played(std::move(marks));
    return cursor ? cursor->keep(replay) : Status();
  };
  if (place) leave_only(*place, replay);
  const std::vector<std::string> argv(arguments.operands().begin() + 1, arguments.operands().end());
  if (argv.empty() && place) {
    HARN_OK(remember(*place));
    return answer_with(replay.tape(), *place, json, caller);
  }
  if (argv.empty()) {  // the end: nothing more will be asked for
    const auto left = replay.end();
    return left.empty() ? Reply{} : divergence_reply(left, json);
  }
  HARN_TRY(prepared, prepare_unproved(arguments, caller, argv));
  const auto asked =
      embed::described_run(prepared.asked, prepared.command, prepared.command.cwd.value_or(prepared.facts.cwd), replay.tape().salt())
          .record;
  HARN_TRY(answer, replay.next(asked, caller.read == nullptr ? input_from("") : InputSource(caller.read)));
  if (!answer.divergences.empty()) return divergence_reply(answer.divergences, json);
  HARN_OK(check_unambiguous(replay, answer));
  HARN_OK(remember(answer.index));
  return answer_with(replay.tape(), answer.index, json, caller);
}

}  // namespace

Result<Reply> replay_verb(const Arguments& arguments, const Caller& caller) {
  HARN_TRY(replay, opened(arguments, caller));
  if (arguments.has("list")) return list_of(replay.tape());
  const bool one = arguments.operands().size() > 1 || arguments.has("cursor") || arguments.has("at");
  if (!one) return play_all(replay.tape(), arguments.has("json"), caller);
  if (const auto warning = tape_lines(replay.tape()); replay.tape().torn()) caller.tell(warning);
  return play_one(arguments, caller, replay);
}

}  // namespace harn::cli
