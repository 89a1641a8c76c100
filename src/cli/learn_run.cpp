// SPDX-License-Identifier: Apache-2.0
#include "cli/learn_run.h"

#include <sys/prctl.h>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/load.h"
#include "cli/run_audit.h"
#include "cli/run_steps.h"
#include "cli/verbs.h"
#include "embed/explain.h"
#include "embed/ready.h"
#include "host/user_files.h"
#include "session/overlay.h"
#include "workspace/pending.h"

namespace harn::cli {
namespace {

Result<Arguments> words_for(const LearnRun& run, const AbsPath& policy) {
  std::vector<std::string> words = {"--policy", policy.text()};
  words.insert(words.end(), run.flags.begin(), run.flags.end());
  words.emplace_back("--");
  words.insert(words.end(), run.command.begin(), run.command.end());
  const std::string verb[] = {"run"};
  return parse_arguments(*find_verb(verb), words);
}

bool has_view(const HostFacts& facts) { return facts.linux.user_namespaces; }

Status check_watched(const Plan& plan, const LearnRun& run) {
  if (plan.route == Route::refused)
    return fail(Error{.code = ErrorCode::refused, .stage = Stage::plan, .message = plan.refusal->message, .hint = plan.refusal->hint});
  if (!run.watched || embed::explains(plan)) return {};
  return fail(Error{.code = ErrorCode::not_available,
                    .stage = Stage::plan,
                    .message = "nothing can be learned here: no supervisor can listen to what a command does",
                    .hint = "'harn doctor' says why; learn where seccomp notifications are free, and copy the policy"});
}

}  // namespace

Result<LearnPlace> LearnPlace::make(const Caller& caller) {
  auto path = state_directory(caller).join("learn-" + make_run_id());
  HARN_OK(host::keep_user_file(path.join("policy.toml"), ""));
  return LearnPlace(std::move(path));
}

LearnPlace::~LearnPlace() {
  if (path_) workspace::forget_place(*path_);
}

Result<LearnOutcome> run_for_learning(const LearnRun& run, const LearnPlace& place, const Caller& caller, const Watching& watching) {
  ::prctl(PR_SET_DUMPABLE, 1);  // the run before hid us, and what makes a view must be ours to write; nobody is inside now
  const auto file = place.path().join("policy.toml");
  HARN_OK(host::keep_user_file(file, run.policy));
  HARN_TRY(arguments, words_for(run, file));
  RunAudit audit(arguments, caller);
  auto canary = embed::make_canary(caller.environment);
  LearnOutcome out;
  HARN_TRY(prepared, prepare(arguments, caller, audit.settings()));
  out.prepared = std::move(prepared);
  auto& options = out.prepared.options;
  options.backend = Backend::linux;
  options.explain = options.record = run.watched;
  out.discarded = !run.keep && has_view(out.prepared.facts);
  if (out.discarded) {
    options.overlay = place.path().join("layers");
    options.overlay_all = true;
  }
  audit.use_policy(out.prepared);
  HARN_OK(embed::check_not_blocked(out.prepared.policy, out.prepared.command.argv));
  HARN_TRY(plan, make_plan(out.prepared.policy, out.prepared.command, out.prepared.facts, options, out.prepared.rules));
  audit.use_plan(plan, options);
  HARN_OK(check_watched(plan, run));
  RunOptions how{.whole_process = true, .receipt = false, .canary = std::move(canary), .place = state_directory(caller)};
  audit.fill(how);
  how.nameservers = named_resolvers(caller);
  how.on_refusal = [&](const Refused& refused) { watching(refused, out.prepared); };
  if (!run.interactive) how.streams = {Stream::empty, Stream::capture, Stream::capture};
  HARN_TRY(pending, session::begin_overlay(options, plan));
  auto outcome = embed::run_looked({plan, out.prepared.policy, out.prepared.rules, out.prepared.facts}, std::move(how));
  if (pending) HARN_OK(pending->discard());
  if (!outcome) return fail(std::move(outcome).error());
  out.outcome = std::move(*outcome);
  return out;
}

}  // namespace harn::cli
