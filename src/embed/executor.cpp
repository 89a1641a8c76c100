// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <tuple>

#include <fmt/format.h>

#include "base/text.h"
#include "embed/container_engine.h"
#include "embed/decisions.h"
#include "embed/harness_table.h"
#include "embed/places.h"
#include "harn/dialect.h"
#include "harn/probe.h"
#include "policy/blocked_commands.h"
#include "policy/dialects.h"
#include "sys/files.h"
#include "sys/own_directory.h"

namespace harn::harness {
namespace {

constexpr int exit_blocked = 1;
constexpr int exit_did_not_run = 125;
constexpr int exit_not_executable = 126;
constexpr int exit_not_found = 127;

ExecutionResult did_not_run(int exit_code, std::string error) {
  ExecutionResult result{.outcome = {.exit_code = exit_code}, .error = std::move(error)};
  result.outcome.captured_stdout = result.outcome.captured_stderr = std::string();
  return result;
}

ExecutionResult did_not_run(const Error& error) {
  int code = exit_did_not_run;
  if (error.code == ErrorCode::invalid_command && error.os_error == ENOENT) code = exit_not_found;
  if (error.code == ErrorCode::invalid_command && error.os_error == EACCES) code = exit_not_executable;
  return did_not_run(code, describe(error));
}

Result<PlanOptions> options_for(const Imported& imported, const Context& context) {
  PlanOptions options;
  if (imported.backend == "docker") {
    HARN_TRY(engine, embed::container_engine(context.environment));
    options.backend = engine;
  }
  const auto found = context.environment.find("HARN_HANDLER_SANDBOX");
  HARN_TRY(fallback, parse_fallback(found == context.environment.end() ? std::nullopt : std::optional<std::string_view>(found->second)));
  options.fallback = fallback;
  return options;
}

AbsPath real(AbsPath path) {
  if (auto found = sys::real_path(path)) return std::move(*found);
  return path;
}

// The shell outlives what it runs and tells of a signal as 128 and its number, and a command may exit with the same number by itself. So
// it is believed where we know ourselves that much was spent: the kernel sends the signal for processor time by counting ticks, which on
// a busy host runs well ahead of what was used.
void hear_the_shell(const ResourceLimits& limits, Outcome& outcome) {
  constexpr int told_by_shell = 128;
  constexpr std::uint64_t much_ms = 500;  // of each second
  if (outcome.exit_code == told_by_shell + SIGXCPU && outcome.usage.cpu_ms >= limits.max_cpu_seconds * much_ms) {
    outcome.exit_code = -SIGXCPU;
    outcome.cpu_exceeded = outcome.timed_out = true;
  }
  if (outcome.exit_code == told_by_shell + SIGXFSZ && outcome.file_size_exceeded) outcome.exit_code = -SIGXFSZ;
}

}  // namespace

struct Executor::Parts {
  SandboxPolicy asked = {};
  std::optional<sys::OwnDirectory> place = {};  // where commands work when nothing of the user's may be opened
  std::optional<Sandbox> sandbox = {};
  std::vector<std::string> notes = {};
  AuditSink* audit = nullptr;
  std::vector<std::string> secrets = {};
  std::mutex lock = {};
  std::condition_variable quiet = {};         // nobody runs a command
  std::vector<std::thread::id> runners = {};  // one entry for each command
  bool closed = false;

  bool enter() {
    const std::scoped_lock alone(lock);
    if (closed) return false;
    runners.push_back(std::this_thread::get_id());
    return true;
  }

  void leave() {
    const std::scoped_lock alone(lock);
    runners.erase(std::ranges::find(runners, std::this_thread::get_id()));
    if (!runners.empty()) return;
    if (closed) place.reset();
    quiet.notify_all();
  }

  // From a command's own callback there is nothing to wait for: the last command takes everything along.
  void close() {
    std::unique_lock alone(lock);
    closed = true;
    if (std::ranges::find(runners, std::this_thread::get_id()) != runners.end()) return;
    quiet.wait(alone, [this] { return runners.empty(); });
    place.reset();
  }

  void record_blocked(const std::string& command, const std::string& why) const {
    if (audit == nullptr) return;
    const Error error{.code = ErrorCode::refused, .stage = Stage::plan, .message = why};
    const AuditEvent refused[] = {embed::refusal_event(error, {command}, secrets)};
    std::ignore = audit->append(refused);  // it does not run either way
  }
};

Executor::Executor(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Executor::Executor(Executor&&) noexcept = default;
Executor& Executor::operator=(Executor&&) noexcept = default;
Executor::~Executor() = default;
const Sandbox* Executor::sandbox() const {
  const std::scoped_lock alone(parts_->lock);
  return parts_->closed || !parts_->sandbox ? nullptr : &*parts_->sandbox;
}
const std::vector<std::string>& Executor::notes() const { return parts_->notes; }

Result<Executor> create_executor(const SandboxPolicy& policy, Context context) {
  auto parts = std::make_unique<Executor::Parts>();
  parts->asked = policy;
  parts->audit = context.audit;
  if (parts->audit != nullptr) parts->secrets = embed::secrets_in({}, context.environment);
  context.cwd = real(std::move(context.cwd));
  const auto home = real(embed::home_of(context.environment));
  base::Value root;
  root.set("sandbox", table_of(policy));
  HARN_TRY(imported, policy::import_harness(root, {.home = home, .project_root = context.cwd, .file_name = "SandboxPolicy"}));
  parts->notes = std::move(imported.not_expressed);
  HARN_TRY(options, options_for(imported, context));
  const bool confining = policy.mode != SandboxMode::none;
  // No policy opens the home directory by itself, and a program may stand there all the same.
  if (confining && !policy.allowed_paths && find_project_root(context.cwd).contains(home)) {
    HARN_TRY(place, sys::OwnDirectory::keep(AbsPath::of("/tmp"), "harness-work-"));
    parts->notes.push_back(fmt::format("{} is not opened: commands work in {}; name allowed_paths to open it",
                                       base::quoted(context.cwd.text()), base::quoted(place.path().text())));
    context.cwd = place.path();
    imported.policy.workspace_roots = {{place.path()}};
    parts->place.emplace(std::move(place));
  }
  HARN_TRY(sandbox, Sandbox::open(std::move(imported.policy), std::move(context), options));
  parts->sandbox.emplace(std::move(sandbox));
  return Executor(std::move(parts));
}

std::optional<std::string> Executor::validate_command(std::string_view command) const {
  const auto& blocked = parts_->asked.blocked_commands;
  return policy::validate_command({blocked.begin(), blocked.end()}, command);
}

ExecutionResult Executor::execute(const std::string& command, const Execution& execution) const {
  if (!parts_->enter()) return did_not_run(exit_did_not_run, "the executor was cleaned up");
  const std::unique_ptr<Parts, void (*)(Parts*)> leaving(parts_.get(), [](Parts* parts) { parts->leave(); });
  if (auto blocked = validate_command(command)) {
    parts_->record_blocked(command, *blocked);
    return did_not_run(exit_blocked, std::move(*blocked));
  }
  Call call{.wall_time = execution.timeout, .input = execution.input, .on_output = execution.on_output, .stop = execution.stop};
  if (execution.timeout <= std::chrono::milliseconds::zero())
    call.wall_time = std::chrono::seconds(parts_->asked.resource_limits.max_cpu_seconds);
  auto outcome =
      parts_->sandbox->run({.argv = {"/bin/sh", "-c", command}, .cwd = execution.cwd, .image = parts_->asked.docker_image}, call);
  if (!outcome) return did_not_run(outcome.error());
  if (parts_->asked.mode != SandboxMode::none) hear_the_shell(parts_->asked.resource_limits, *outcome);
  ExecutionResult result{.outcome = std::move(*outcome)};
  if (!result.outcome.error.empty()) result.error = result.outcome.error;
  return result;
}

void Executor::cleanup() { parts_->close(); }

std::string result_to_json(ExecutionResult result, int indent) {
  if (result.error) result.outcome.error = std::move(*result.error);
  return outcome_to_json(result.outcome, indent);
}

}  // namespace harn::harness
