// SPDX-License-Identifier: Apache-2.0
// The suite: every attack once without a sandbox and once inside, every harmless neighbour inside.
#include <sys/prctl.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "doctor/attack_ground.h"
#include "doctor/judge.h"
#include "harn/probe.h"
#include "harn/sandbox.h"
#include "sys/files.h"

namespace harn {
namespace doctor {
namespace {

constexpr std::uint64_t patience_ms = 20'000;

struct Said {
  bool ran = false;  // it came to an answer
  bool worked = false;
  std::string line = {};
};

Said read_answer(const Result<Outcome>& outcome) {
  if (!outcome) return {.line = describe(outcome.error())};
  const auto line = std::string(base::trim(outcome->captured_stdout.value_or("")));
  const bool ran = outcome->exit_code == attack_worked || outcome->exit_code == attack_refused;
  if (ran) return {.ran = true, .worked = outcome->exit_code == attack_worked, .line = line};
  const auto complaint = base::trim(outcome->captured_stderr.value_or(""));
  return {.line = fmt::format("ended with {} {}", outcome->exit_code, line.empty() ? complaint : std::string_view(line))};
}

class Suite {
 public:
  Suite(const SuiteRequest& request, AttackGround& ground) : request_(request), ground_(ground) {}

  Result<SandboxReport> run() {
    SandboxReport report;
    HARN_TRY(plan, plan_for("run_at_all"));
    if (plan.route == Route::refused)
      return fail(Error{.code = ErrorCode::refused, .stage = Stage::plan, .message = plan.refusal->message, .hint = plan.refusal->hint});
    report.plan = std::move(plan);
    for (const auto& row : attacks()) report.measurements.push_back(measure(row, report.plan));
    return report;
  }

 private:
  std::vector<std::string> words_for(std::string_view name) const {
    std::vector<std::string> words = {request_.attacker->text(), "probe", std::string(name)};
    for (const auto& [target, value] : ground_.targets().values()) words.push_back(target + "=" + value);
    return words;
  }

  Result<Plan> plan_for(std::string_view name) const {
    HARN_TRY(plan, make_plan(request_.policy, {.argv = words_for(name), .environment = ground_.environment(), .image = request_.image},
                             request_.facts, request_.options));
    plan.limits.wall_time_ms = std::min(plan.limits.wall_time_ms.value_or(patience_ms), patience_ms);
    return plan;
  }

  // Not as a process that lives for one command: its memory would be hidden from its own user, and the
  // attacks on it would prove nothing. Only what outlives a run is looked for as `harn run` does.
  Said confined(std::string_view name) {
    ground_.reset();
    auto plan = plan_for(name);
    if (!plan) return {.line = describe(plan.error())};
    const auto said = read_answer(
        run_plan(*plan, {.streams = {Stream::empty, Stream::capture, Stream::capture}, .whole_process = name == "outlive_the_run"}));
    ::prctl(PR_SET_DUMPABLE, 1);
    return said;
  }

  Said unconfined(std::string_view name) {
    ground_.reset();
    Plan plan{.route = Route::direct, .argv = words_for(name), .cwd = request_.facts.cwd};
    plan.env.variables = ground_.environment();
    plan.limits.wall_time_ms = patience_ms;
    return read_answer(run_plan(plan, {.streams = {Stream::empty, Stream::capture, Stream::capture}}));
  }

  std::string missing(std::string_view needs) const {
    for (const auto name : base::split(needs, ' '))
      if (!name.empty() && !ground_.targets().has(name)) return std::string(name);
    return {};
  }

  // Once per neighbour, however many attacks stand beside it. Empty line: not possible under this policy.
  const Said& twin(std::string_view name) {
    const auto [entry, fresh] = twins_.try_emplace(std::string(name));
    if (!fresh) return entry->second;
    const auto row = std::ranges::find(twins(), name, &Twin::name);
    if (row != twins().end() && missing(row->needs).empty()) entry->second = confined(name);
    return entry->second;
  }

  bool worked(const Attack& row, const Said& said) const { return row.happened != nullptr ? row.happened(ground_) : said.worked; }

  Measurement measure(const Attack& row, const Plan& plan) {
    Measurement out{.attack = std::string(row.name), .dimension = row.dimension, .promise = std::string(row.promise)};
    if (const auto name = missing(row.needs); !name.empty()) {
      out.verdict = Verdict::not_measured;
      out.control = fmt::format("nothing to aim at here: {}", name);
      return out;
    }
    Evidence seen{.rare = row.rare};
    seen.requested = plan.route != Route::direct || plan.profile != Profile::unrestricted;
    if (row.dimension && plan.coverage[*row.dimension].status == Enforcement::not_requested) seen.requested = false;
    const auto control = unconfined(row.name);
    seen.control_ran = control.ran;
    seen.worked_outside = worked(row, control);
    const auto inside = confined(row.name);
    seen.confined_ran = inside.ran;
    seen.worked_inside = worked(row, inside);
    const auto& neighbour = twin(row.twin);
    if (!neighbour.line.empty()) seen.twin_worked = neighbour.worked;
    const auto excuse = excuse_for(row, plan, ground_.targets());
    seen.excused = excuse.has_value();
    out.verdict = judge(seen);
    out.control = control.line;
    out.confined = inside.line;
    out.twin = neighbour.line.empty() ? "" : fmt::format("{}: {}", row.twin, neighbour.line);
    if (out.verdict == Verdict::not_enforced) out.excuse = *excuse;
    return out;
  }

  const SuiteRequest& request_;
  AttackGround& ground_;
  std::map<std::string, Said> twins_ = {};
};

}  // namespace
}  // namespace doctor

Result<SandboxReport> measure_sandbox(const SuiteRequest& asked) {
  auto request = asked;
  if (!request.attacker) {
    HARN_TRY(own, sys::real_path(AbsPath::of("/proc/self/exe")));
    request.attacker = std::move(own);
  }
  // The attacker must be there to attack.
  auto& read_roots = request.policy.process_sandbox.read_roots;
  if (!read_roots) read_roots.emplace();
  read_roots->push_back(*request.attacker);
  request.policy = with_project_root(request.policy, request.facts.project_root);
  look_at_paths(request.facts, request.policy);
  const auto rules = PathRules::for_processes(request.policy, request.facts);
  HARN_TRY(ground, doctor::AttackGround::make(request, rules));
  return doctor::Suite(request, *ground).run();
}

}  // namespace harn
