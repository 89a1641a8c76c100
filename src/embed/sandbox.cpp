// SPDX-License-Identifier: Apache-2.0
// The facade for embedders: the same steps as the command line, with a policy in place of flags and files.
#include <algorithm>
#include <tuple>

#include "embed/ceiling.h"
#include "embed/decisions.h"
#include "embed/own_files.h"
#include "embed/ready.h"
#include "embed/taping.h"
#include "harn/embed.h"
#include "harn/layering.h"
#include "harn/policy_text.h"
#include "harn/probe.h"
#include "harn/scope.h"
#include "host/resolve_paths.h"

namespace harn {
namespace {

// As for a policy file that an operator names: it stands in place of the user's and the project's.
Result<Composed> compose(Policy asked, const HostFacts& facts, PlanOptions& options) {
  PolicyLayers layers{.project_root = facts.project_root, .home = facts.home};
  HARN_TRY(ceiling, embed::system_ceiling(facts.home));
  if (ceiling) options.least_profile = ceiling->profile();
  layers.system_ceiling = std::move(ceiling);
  const std::vector<Policy> written = {asked};
  HARN_TRY(resolved, resolve_policy_paths(std::move(asked)));
  layers.user = std::move(resolved);
  HARN_TRY(composed, compose_layers(layers));
  std::vector<AbsPath> writable = entries(composed.policy.workspace_roots);
  const auto& others = entries(composed.policy.process_sandbox.write_roots);
  writable.insert(writable.end(), others.begin(), others.end());
  HARN_OK(check_planted_links(written, std::move(writable)));
  return composed;
}

// A plan without a backend has no limits of its own; the time of one call still holds.
void shorten(std::optional<std::uint64_t>& limit, const std::optional<std::chrono::milliseconds>& time) {
  if (!time) return;
  const auto asked = static_cast<std::uint64_t>(std::max<std::chrono::milliseconds::rep>(time->count(), 1));
  limit = std::min(limit.value_or(asked), asked);
}

}  // namespace

struct Sandbox::Parts {
  Context context = {};
  PlanOptions options = {};
  HostFacts facts = {};
  Policy policy = {};
  Narrowing narrowing = {};
  std::optional<AbsPath> canary = {};
  std::vector<embed::OwnFile> own_files = {};
  std::vector<AbsPath> withheld = {};
};

namespace {

struct Planned {
  Plan plan = {};
  Policy policy = {};
  PathRules rules = {};
};

Result<Command> settled(Command command, const Call& call, const Context& context) {
  if (command.environment.empty() && !call.own_environment) command.environment = context.environment;
  if (command.cwd) {
    HARN_TRY(real, host::resolve_existing(*command.cwd));
    command.cwd = std::move(real);
  }
  return command;
}

Result<Policy> for_call(const Policy& policy, const Call& call) {
  auto limits = call.limits;
  if (call.wall_time) limits.wall_time = std::min(limits.wall_time.value_or(*call.wall_time), *call.wall_time);
  return policy_for_call(policy, call.profile, limits);
}

Status record_policy(const Context& context, const Policy& policy, const Narrowing& narrowing) {
  if (context.audit == nullptr) return {};
  embed::Loaded loaded{.sources = {"program"}};
  for (const auto& item : narrowing) loaded.narrowings.push_back(item.member + ": " + item.value);
  auto kept = context.audit->append(embed::policy_events(policy, loaded));
  return policy.profile() == Profile::os_hardened ? std::move(kept) : Status();
}

template <class Parts>
Result<Planned> make_planned(const Parts& parts, const Command& asked, const Call& call) {
  HARN_TRY(policy, for_call(parts.policy, call));
  HARN_OK(embed::check_not_blocked(policy, asked.argv));
  HARN_TRY(command, settled(asked, call, parts.context));
  Planned out{.policy = std::move(policy)};
  auto facts = parts.facts;
  HARN_OK(embed::settle_named_engine(facts, parts.options, parts.context.environment, command.image));
  embed::settle_wasi_runtime(facts, out.policy, parts.options, parts.context.environment);
  out.rules = embed::look_at_host(facts, out.policy, parts.context.environment).rules;
  for (const auto& file : parts.withheld) HARN_OK(embed::withhold(file, facts, out.policy, out.rules, parts.options));
  HARN_OK(embed::check_own_files(parts.own_files, {out.policy, parts.options, facts, out.rules}));
  HARN_TRY(plan, make_plan(out.policy, command, facts, parts.options, out.rules));
  out.plan = std::move(plan);
  shorten(out.plan.limits.wall_time_ms, call.wall_time);
  return out;
}

}  // namespace

Sandbox::Sandbox(std::unique_ptr<const Parts> parts) : parts_(std::move(parts)) {}
Sandbox::Sandbox(Sandbox&&) noexcept = default;
Sandbox& Sandbox::operator=(Sandbox&&) noexcept = default;
Sandbox::~Sandbox() = default;
const Policy& Sandbox::policy() const { return parts_->policy; }
const Narrowing& Sandbox::narrowing() const { return parts_->narrowing; }
const HostFacts& Sandbox::facts() const { return parts_->facts; }

Result<Sandbox> Sandbox::open(Policy policy, Context context, PlanOptions options) {
  auto parts = std::make_unique<Parts>();
  const embed::Standing standing{.environment = context.environment, .cwd = context.cwd, .inside = Inside::other_program};
  if (context.replay == nullptr) parts->canary = embed::make_canary(context.environment);
  HARN_TRY(facts, context.replay == nullptr ? embed::proved_facts(standing, /*confining=*/!options.no_sandbox)
                                            : Result<HostFacts>(embed::seen_facts(standing)));
  HARN_TRY(composed, compose(std::move(policy), facts, options));
  parts->facts = std::move(facts);
  parts->policy = std::move(composed.policy);
  parts->narrowing = std::move(composed.narrowing);
  parts->own_files = embed::own_files(context.environment);
  parts->withheld = context.withheld;
  if (context.tape != nullptr) parts->withheld.push_back(context.tape->path());
  parts->context = std::move(context);
  parts->options = options;
  HARN_OK(record_policy(parts->context, parts->policy, parts->narrowing));
  return Sandbox(std::move(parts));
}

Result<Plan> Sandbox::plan(const Command& command, const Call& call) const {
  HARN_TRY(planned, make_planned(*parts_, command, call));
  return std::move(planned.plan);
}

namespace {

// The policy as composed for this call, before it was looked at this host: the same on the next host.
template <class Parts>
Result<embed::Described> described(const Parts& parts, const Command& asked, const Call& call, std::string_view salt) {
  HARN_TRY(policy, for_call(parts.policy, call));
  HARN_TRY(command, settled(asked, call, parts.context));
  return embed::described_run(policy, command, command.cwd.value_or(parts.facts.cwd), salt);
}

template <class Parts>
Result<Outcome> replayed(const Parts& parts, const Command& command, const Call& call) {
  auto& replay = *parts.context.replay;
  HARN_TRY(asked, described(parts, command, call, replay.tape().salt()));
  HARN_TRY(answer, replay.next(asked.record, input_from(call.input)));
  if (!answer.divergences.empty()) return fail(embed::diverged(answer.divergences));
  HARN_TRY(record, replay.tape().whole(answer.index));
  HARN_TRY(outcome, outcome_of(record));
  if (call.on_output) {
    call.on_output(Output::out, *outcome.captured_stdout);
    call.on_output(Output::err, *outcome.captured_stderr);
  }
  return outcome;
}

// What ran and is not on the tape is no success; its outcome says so.
Result<Outcome> taped(TapeWriter& tape, embed::Taping& taping, const Plan& plan, Result<Outcome> outcome) {
  const auto kept = tape.append(taping.finish(plan, outcome));
  if (!kept && outcome) outcome->error = "the run is not on the tape: " + kept.error().message;
  return outcome;
}

}  // namespace

Result<Outcome> Sandbox::run(const Command& command, const Call& call) const {
  const auto& context = parts_->context;
  if (context.replay != nullptr) return replayed(*parts_, command, call);
  const bool inherits = command.environment.empty() && !call.own_environment;
  const auto& environment = inherits ? context.environment : command.environment;
  auto made = make_planned(*parts_, command, call);
  const auto refuse = [&](const Error& error) {
    if (context.audit == nullptr) return;
    const AuditEvent refused[] = {embed::refusal_event(error, command.argv, embed::secrets_in({}, environment))};
    std::ignore = context.audit->append(refused);  // it does not run either way
  };
  if (!made) refuse(made.error());
  HARN_TRY(planned, std::move(made));
  RunOptions options{.streams = {call.input.empty() ? Stream::empty : Stream::capture, Stream::capture, Stream::capture},
                     .input = call.input,
                     .captured_bytes = call.captured_bytes,
                     .on_output = call.on_output,
                     .stop_fd = call.stop == nullptr ? -1 : call.stop->fd(),
                     .receipt = call.receipt,
                     .canary = parts_->canary,
                     .audit = context.audit,
                     .place = embed::state_directory(parts_->context.environment)};
  if (context.audit != nullptr) {
    options.decided = embed::plan_events(planned.plan, parts_->options);
    options.secrets = embed::secrets_in(planned.plan.env.removed, environment);
  }
  if (planned.plan.refusal) refuse({.code = ErrorCode::refused, .stage = Stage::plan, .message = planned.plan.refusal->message});
  if (context.tape == nullptr) return embed::run_looked({planned.plan, planned.policy, planned.rules, parts_->facts}, std::move(options));
  HARN_TRY(record, described(*parts_, command, call, context.tape->salt()));
  embed::Taping taping(std::move(record));
  taping.listen(options);
  return taped(*context.tape, taping, planned.plan,
               embed::run_looked({planned.plan, planned.policy, planned.rules, parts_->facts}, std::move(options)));
}

Result<FileScope> Sandbox::files() const {
  auto facts = parts_->facts;
  auto policy = parts_->policy;
  // A command could not change its own rules; neither can this.
  const auto& environment = parts_->context.environment;
  auto& closed = policy.process_sandbox.read_deny_roots;
  for (auto& place : {embed::state_directory(environment), embed::user_config_file(environment).parent()}) {
    const auto way = host::way_to(place);
    closed.push_back(way ? way->end : place);
  }
  (void)embed::look_at_host(facts, policy, environment);
  return FileScope::open(policy, facts);
}

}  // namespace harn
