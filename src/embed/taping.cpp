// SPDX-License-Identifier: Apache-2.0
#include "embed/taping.h"

#include <algorithm>

#include <fmt/format.h>

#include "audit/files.h"
#include "audit/line.h"
#include "base/text.h"
#include "embed/decisions.h"
#include "harn/probe.h"
#include "plan/names.h"
#include "policy/env_rules.h"

namespace harn::embed {

Described described_run(const Policy& policy, const Command& command, const AbsPath& cwd, std::string_view salt) {
  std::vector<RemovedVariable> withheld;
  for (auto& removed : policy::apply_env_rules(policy.env, command.environment).removed)
    withheld.push_back({std::move(removed.name), std::move(removed.why)});
  auto secrets = secrets_in(withheld, command.environment);
  for (const auto& [name, value] : policy.env.set)
    if (policy::always_stripped(name) || !policy::secret_pattern(name).empty()) secrets.push_back(value);
  // A secret may be a part of another one.
  std::ranges::sort(secrets, std::greater(), &std::string::size);
  auto record = describe_run(
      {.policy = policy, .argv = command.argv, .cwd = cwd, .environment = command.environment, .secrets = secrets, .salt = salt});
  return {.record = std::move(record), .secrets = std::move(secrets)};
}

namespace {

// A digest of something short is a way to guess it.
bool holds_secret(const RunRecord& record, const Plan& plan, const std::vector<std::string>& secrets) {
  return record.redacted || std::ranges::any_of(plan.env.variables, [&](const auto& variable) {
           return policy::always_stripped(variable.first) || !policy::secret_pattern(variable.first).empty() ||
                  text_without_secrets(variable.second, secrets) != variable.second;
         });
}

}  // namespace

void Taping::Kept::add(std::string_view piece) {
  sum.add(piece);
  if (bytes.size() < taped_bytes) bytes += piece.substr(0, static_cast<std::size_t>(taped_bytes) - bytes.size());
}

TapedOutput Taping::Kept::take() { return {.size = sum.size(), .sha256 = sum.hex(), .bytes = std::move(bytes)}; }

void Taping::listen(RunOptions& options) {
  for (auto& stream : options.streams)
    if (stream == Stream::inherit) stream = Stream::tap;
  if (options.streams[0] == Stream::capture) input_.add(options.input);
  input_ended_ = options.streams[0] != Stream::tap;
  options.on_input = [this](std::string_view bytes, bool ended) {
    input_.add(bytes);
    input_ended_ = input_ended_ || ended;
  };
  // Who listens to captured output changes what is kept of it; where nobody does, the outcome has it.
  const bool listened = static_cast<bool>(options.on_output);
  for (std::size_t i = 0; i < 2; ++i) told_[i] = options.streams[i + 1] == Stream::tap || listened;
  if (!told_[0] && !told_[1]) return;
  options.on_output = [this, next = std::move(options.on_output)](Output which, std::string_view bytes) {
    (which == Output::out ? out_ : err_).add(bytes);
    if (next) next(which, bytes);
  };
}

const RunRecord& Taping::finish(const Plan& plan, const Result<Outcome>& outcome) {
  record_.recorded_at = audit::timestamp_text(audit::now().real_us);
  record_.input = {.size = input_.size(), .sha256 = input_.hex(), .ended = input_ended_};
  if (!holds_secret(record_, plan, secrets_)) record_.plan_digest = digest(plan);
  record_.backend = base::enum_name(plan.backend);
  record_.host = plan.host;
  if (!outcome) {
    const auto& error = outcome.error();
    record_.error = TapedError{.code = std::string(name_of(error.code)),
                               .stage = std::string(name_of(error.stage)),
                               .os_error = error.os_error,
                               .message = redacted_text(error.message, secrets_),
                               .hint = redacted_text(error.hint, secrets_)};
    if (record_.run_id.empty()) record_.run_id = make_run_id();
  } else {
    record_.run_id = outcome->receipt.run_id;
    record_.end = TapedEnd{.exit_code = outcome->exit_code,
                           .timed_out = outcome->timed_out,
                           .oom_killed = outcome->oom_killed,
                           .cpu_exceeded = outcome->cpu_exceeded,
                           .file_size_exceeded = outcome->file_size_exceeded,
                           .processes_exceeded = outcome->processes_exceeded,
                           .cancelled = outcome->cancelled,
                           .output_truncated = outcome->output_truncated,
                           .killed_processes = outcome->killed_processes,
                           .wall_ms = outcome->usage.wall_ms,
                           .cpu_ms = outcome->usage.cpu_ms,
                           .max_memory_bytes = outcome->usage.max_memory_bytes};
    if (!told_[0]) out_.add(outcome->captured_stdout.value_or(""));
    if (!told_[1]) err_.add(outcome->captured_stderr.value_or(""));
  }
  record_.out = out_.take();
  record_.err = err_.take();
  return record_;
}

Status withhold(const AbsPath& file, HostFacts& facts, Policy& policy, PathRules& rules, const PlanOptions& options) {
  const auto open = [&] { return rules.decide(file, FileOp::read).allowed || rules.decide(file, FileOp::write).allowed; };
  if (!open()) return {};
  policy.process_sandbox.read_deny_roots.push_back(file);
  look_at_paths(facts, policy);
  rules = PathRules::for_processes(policy, facts);
  if (!open() && can_close({policy, options, facts, rules})) return {};
  return fail(Error{.code = ErrorCode::refused,
                    .stage = Stage::compose,
                    .message = fmt::format("the tape {} lies in what the command may reach, and nothing on this host could keep it closed",
                                           base::quoted(file.text())),
                    .hint = "keep the tape elsewhere, or let this user create user namespaces"});
}

Error diverged(const std::vector<Divergence>& divergences) {
  std::vector<std::string> names;
  for (const auto& divergence : divergences) names.emplace_back(name_of(divergence.kind));
  return {.code = ErrorCode::refused,
          .stage = Stage::plan,
          .message =
              "this is not what was recorded: " + base::join(names, ", ") + "\n" + std::string(base::trim(divergences_text(divergences))),
          .hint = "nothing was run; record it again, or say what may differ ('harn help replay')"};
}

}  // namespace harn::embed
