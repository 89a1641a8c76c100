// SPDX-License-Identifier: Apache-2.0
#include "prove/proving_ground.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "harn/probe.h"
#include "harn/sandbox.h"
#include "sys/files.h"

namespace harn::prove {
namespace {

constexpr int canary_was_read = 11;
constexpr int workspace_was_closed = 12;
constexpr int kept_was_written = 13;
constexpr std::uint64_t patience_ms = 10'000;  // for a wrapper that hangs

// $1 must stay closed, $2 must open, $3 must not come into being. Subshells, because a shell ends when a redirection fails.
constexpr std::string_view script =
    R"(( : < "$1" ) 2>/dev/null && exit 11; ( : > "$2" ) || exit 12; [ -z "$3" ] || ! ( : > "$3" ) 2>/dev/null || exit 13; exit 0)";

Error not_proved(std::string message) { return {.code = ErrorCode::not_available, .stage = Stage::prepare, .message = std::move(message)}; }

std::string first_line(std::string_view text) {
  const auto line = base::trim(text.substr(0, text.find('\n')));
  return std::string(line);
}

Status judge(const Outcome& outcome) {
  if (outcome.timed_out) return fail(not_proved("the command did not end"));
  switch (outcome.exit_code) {
    case 0: return {};
    case canary_was_read: return fail(not_proved("a file outside could be read from inside"));
    case kept_was_written: return fail(not_proved("a place kept read-only inside the workspace could be written"));
    case workspace_was_closed: return fail(not_proved("the workspace could not be written from inside"));
    default: break;
  }
  const auto said = first_line(outcome.captured_stderr.value_or(""));
  return fail(not_proved(said.empty() ? fmt::format("the command ended with {}", outcome.exit_code) : said));
}

Policy small_policy(const AbsPath& work) {
  Policy policy{.sandbox_profile = Profile::worktree, .workspace_roots = {{work}}};
  policy.process_sandbox.presets = {Preset::system_runtime, Preset::user_temp};
  return policy;
}

Command small_command(const AbsPath& root) {
  return {.argv = {"/bin/sh", "-c", std::string(script), "sh", root.join("canary").text(), root.join("work/made").text()},
          .cwd = root.join("work"),
          .environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}}};
}

RunOptions quiet(std::optional<AbsPath> canary) {
  return {.streams = {Stream::empty, Stream::capture, Stream::capture}, .canary = std::move(canary)};
}

}  // namespace

Result<ProvingGround> ProvingGround::make(const HostFacts& claimed) {
  HARN_TRY(directory, sys::OwnDirectory::make(claimed.temp, "harn-prove-"));
  ProvingGround ground(std::move(directory));
  const auto work = ground.root().join("work");
  for (const auto& made : {work, work.join("kept")})
    if (::mkdir(made.text().c_str(), S_IRWXU) != 0) return fail(sys::os_failure("mkdir", made.text(), errno));
  HARN_OK(sys::replace_file(ground.canary(), "out of reach\n"));
  ground.policy_ = small_policy(work);
  ground.facts_ = claimed;
  ground.facts_.cwd = ground.facts_.project_root = work;
  ground.facts_.paths.clear();
  for (auto& [name, tool] : ground.facts_.tools) tool.works = true;  // on trial
  look_at_paths(ground.facts_, ground.policy_);

  auto control = ground.bare_plan({});
  control.confinement = NoConfinement{};
  control.argv = small_command(ground.root()).argv;
  HARN_TRY(outcome, run_plan(control, quiet(std::nullopt)));
  if (outcome.exit_code == canary_was_read) return ground;
  return fail(not_proved(fmt::format("a file in {} is out of reach without any confinement", base::quoted(ground.root().text()))));
}

Result<Plan> ProvingGround::small_plan(const LinuxFacts& linux, Backend backend, bool loopback) const {
  auto facts = facts_;
  facts.linux = linux;
  auto policy = policy_;
  if (loopback) policy.network = Network{.loopback = true};
  HARN_TRY(plan, make_plan(policy, small_command(root()), facts, {.backend = backend}));
  plan.limits.wall_time_ms = patience_ms;
  return plan;
}

Plan ProvingGround::bare_plan(LinuxConfinement layers) const {
  const auto command = small_command(root());
  Plan plan{.backend = Backend::linux, .argv = {"true"}, .cwd = *command.cwd, .confinement = std::move(layers)};
  plan.env.variables = command.environment;
  plan.limits.wall_time_ms = patience_ms;
  return plan;
}

Status ProvingGround::run_small(const LinuxFacts& linux, Backend backend) const {
  HARN_TRY(plan, small_plan(linux, backend));
  HARN_TRY(outcome, run_plan(plan, quiet(canary())));
  return judge(outcome);
}

Status ProvingGround::run_supervised(const LinuxFacts& linux) const {
  auto facts = facts_;
  facts.linux = linux;
  auto policy = policy_;
  const auto kept = root().join("work/kept");
  policy.read_only_roots = {{kept}};
  look_at_paths(facts, policy);
  auto command = small_command(root());
  command.argv.push_back(kept.join("made").text());
  HARN_TRY(plan, make_plan(policy, command, facts, {.backend = Backend::linux}));
  const auto* confinement = std::get_if<LinuxConfinement>(&plan.confinement);
  if (confinement == nullptr || !confinement->supervisor) return fail(not_proved("there is nothing for a supervisor to stand on"));
  plan.limits.wall_time_ms = patience_ms;
  HARN_TRY(outcome, run_plan(plan, quiet(canary())));
  return judge(outcome);
}

Status try_layers(const Plan& plan, std::vector<run::Trial> trials) {
  const sys::UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!nothing) return fail(sys::os_failure("open", "/dev/null", errno));
  const int fd = nothing.get();
  HARN_TRY(prepared, run::prepare(plan, {.stdio = {fd, fd, fd}, .trials = std::move(trials)}));
  const auto process = run::spawn(std::move(prepared));
  if (process || process.error().code == ErrorCode::invalid_command) return {};
  return fail(process.error());
}

std::vector<run::Trial> provable(std::vector<run::Trial> trials) {
  std::erase_if(trials, [](const run::Trial& trial) { return !run::works_unconfined(trial); });
  return trials;
}

}  // namespace harn::prove
