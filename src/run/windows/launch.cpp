// SPDX-License-Identifier: Apache-2.0
#include "run/windows/launch.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "run/windows/command_line.h"
#include "run/windows/sddl.h"

namespace harn::run::windows {
namespace {

std::unexpected<Error> refused(std::string message) {
  return fail(Error{.code = ErrorCode::refused,
                    .stage = Stage::spawn,
                    .message = std::move(message),
                    .hint = "the command did not run; 'harn doctor' shows what this host enforces"});
}

Result<std::vector<std::string>> capability_sids(const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const auto& name : names) {
    auto sid = capability_sid(name);
    if (!sid) return refused(fmt::format("the plan asks for the capability {}, which this version does not know", base::quoted(name)));
    out.push_back(std::move(*sid));
  }
  return out;
}

bool has_sid(const std::vector<std::string>& sids, std::string_view sid) {
  return std::ranges::any_of(sids, [&](const std::string& each) { return same_sid(each, sid); });
}

Status check_token(const TokenFacts& token, const SpawnRequest& spawn) {
  if (!token.is_container) return refused("the process was made, but it is not in an AppContainer");
  if (!same_sid(token.sid, *spawn.container))
    return refused(fmt::format("the process is in the AppContainer {} instead of {}", base::quoted(token.sid), *spawn.container));
  for (const auto& sid : token.capabilities)
    if (!has_sid(spawn.capabilities, sid)) return refused(fmt::format("the process has the capability {}, which nobody gave it", sid));
  for (const auto& sid : spawn.capabilities)
    if (!has_sid(token.capabilities, sid)) return refused(fmt::format("the process lacks the capability {}", sid));
  return {};
}

Status name_the_program(const LaunchRequest& request, SpawnRequest& spawn) {
  const auto& plan = request.plan;
  HARN_TRY(program, find_program(plan.argv.front(), plan.cwd, plan.env.variables, request.is_file));
  spawn.program = native_path(program);
  spawn.cwd = native_path(plan.cwd);
  if (!is_batch_file(program.text())) {
    HARN_TRY(line, command_line(plan.argv));
    spawn.line = std::move(line);
    return {};
  }
  const std::vector<std::string> arguments(plan.argv.begin() + 1, plan.argv.end());
  HARN_TRY(line, batch_command_line(request.batch_interpreter, spawn.program, arguments));
  spawn.line = std::move(line);
  spawn.program = request.batch_interpreter;
  return {};
}

}  // namespace

Launched::Launched(Launched&& other) noexcept
    : calls_(other.calls_),
      child_(std::exchange(other.child_, {})),
      job_(std::exchange(other.job_, 0)),
      journal_(std::exchange(other.journal_, std::nullopt)),
      changes_(std::move(other.changes_)),
      notes_(std::move(other.notes_)) {}

Launched::~Launched() { finish(); }

// The journal stands before the container does: a crash in between leaves a name that can be deleted.
Status Launched::enter_container(const AppContainer& container, const LaunchRequest& request, SpawnRequest& spawn, Variables& variables) {
  HARN_TRY(capabilities, capability_sids(container.capability_sids));
  spawn.capabilities = std::move(capabilities);
  notes_ = recover(*calls_);
  const auto name = fmt::format("{}.{}", container.name, request.run_id);
  HARN_TRY(sid, calls_->derive_sid(name));
  if (!is_package_sid(sid)) return refused(fmt::format("{} is not the SID of an AppContainer", base::quoted(sid)));
  Journal journal{.container = name, .sid = sid, .owner = calls_->self.first, .started = calls_->self.second};
  HARN_OK(calls_->save_journal(name, journal_to_json(journal)));
  journal_ = std::move(journal);
  HARN_TRY(created, calls_->create_container(name));
  if (!same_sid(created, sid)) return refused(fmt::format("the AppContainer has the SID {} instead of {}", base::quoted(created), sid));
  HARN_TRY(folder, calls_->container_folder(sid));
  variables = with_container_folder(std::move(variables), container.environment, folder);
  changes_ = path_changes(container.grants);
  spawn.container = sid;
  return apply_changes(*calls_, changes_, *journal_);
}

Status Launched::make_job(const JobSettings& settings) {
  HARN_TRY(job, calls_->create_job());
  job_ = job;
  HARN_OK(calls_->limit_job(job_, settings.limits));
  if (settings.ui != 0) HARN_OK(calls_->limit_job_ui(job_, settings.ui));
  return settings.cpu_rate ? calls_->limit_job_cpu(job_, *settings.cpu_rate) : Status();
}

Status Launched::verify(const JobSettings& settings, const SpawnRequest& spawn) const {
  HARN_TRY(token, calls_->token_of(child_.process));
  HARN_OK(check_token(token, spawn));
  HARN_TRY(in_job, calls_->is_in_job(child_.process, job_));
  if (!in_job) return refused("the process was made, but it is not in its job");
  HARN_TRY(limits, calls_->read_job(job_));
  if (const auto why = limits_differ(settings.limits, limits); !why.empty())
    return refused(fmt::format("the job took its limits, but does not have them: {}", why));
  HARN_TRY(ui, calls_->read_job_ui(job_));
  if (ui != settings.ui)
    return refused(fmt::format("the job took its user interface limits, but has {:#x} instead of {:#x}", ui, settings.ui));
  if (settings.cpu_rate) {
    HARN_TRY(rate, calls_->read_job_cpu(job_));
    if (rate != *settings.cpu_rate)
      return refused(fmt::format("the job took its processor rate, but has {} instead of {}", rate, *settings.cpu_rate));
  }
  return check_changes(*calls_, *spawn.container, changes_);
}

Status Launched::start(const LaunchRequest& request) {
  SpawnRequest spawn{.streams = request.streams};
  auto variables = request.plan.env.variables;
  auto settings = bare_job();
  HARN_OK(name_the_program(request, spawn));
  if (const auto* container = std::get_if<AppContainer>(&request.plan.confinement)) {
    HARN_TRY(planned, job_settings(*container, calls_->processors));
    settings = planned;
    HARN_OK(enter_container(*container, request, spawn, variables));
  }
  HARN_TRY(block, environment_block(variables));
  spawn.environment = std::move(block);
  HARN_OK(make_job(settings));
  spawn.job = job_;
  HARN_TRY(child, calls_->spawn_suspended(spawn));
  child_ = child;
  return spawn.container ? verify(settings, spawn) : Status();
}

Status Launched::resume() { return calls_->resume(child_.thread); }

std::vector<std::string> Launched::finish() {
  std::vector<std::string> problems;
  const auto close = [&](Handle& handle) {
    if (handle != 0) calls_->close(std::exchange(handle, 0));
  };
  if (job_ != 0) calls_->end_job(job_);
  if (child_.process != 0) calls_->end_process(child_.process);
  close(child_.thread);
  close(child_.process);
  close(job_);
  if (!journal_) return problems;
  if (auto undone = undo(*calls_, *journal_, notes_); !undone)
    problems.push_back(
        fmt::format("what was changed for the run is not all taken back, and will be by the next one: {}", undone.error().message));
  journal_.reset();
  return problems;
}

Result<Launched> launch(const Calls& calls, const LaunchRequest& request) {
  Launched run(calls);
  auto started = run.start(request);
  if (started) return run;
  for (const auto& note : run.finish()) started.error().message += "; " + note;
  return fail(std::move(started).error());
}

}  // namespace harn::run::windows
