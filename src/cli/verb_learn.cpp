// SPDX-License-Identifier: Apache-2.0
// harn learn: a command is run and watched until nothing it needs is refused, first under what commands get by
// default, then under ever less; what is left is written down, and tried once as it stands.
#include <signal.h>

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/learn_answer.h"
#include "cli/learn_run.h"
#include "cli/load.h"
#include "cli/prepare.h"
#include "cli/run_steps.h"
#include "cli/verbs.h"
#include "harn/probe.h"
#include "host/resolve_paths.h"
#include "host/user_files.h"
#include "learn/compose.h"
#include "learn/learned_text.h"
#include "learn/programs.h"
#include "learn/unused.h"

namespace harn::cli {
namespace {

constexpr std::size_t most_runs = 24;  // beyond those that must be quiet

struct Asked {
  std::optional<AbsPath> output = {};
  std::size_t quiet_runs = 1;
  bool keep = false;
  bool prune = false;
  std::vector<std::string> flags = {};  // for each run
};

Result<Asked> read_asked(const Arguments& arguments, const Caller& caller) {
  Asked asked{.keep = arguments.has("keep"), .prune = arguments.has("prune")};
  const auto context = path_context(caller);
  if (const auto* text = arguments.value("output")) {
    HARN_TRY(path, path_argument(*text, context));
    HARN_TRY(real, host::resolve_parent(path));
    asked.output = std::move(real);
  }
  if (const auto* text = arguments.value("runs")) {
    const auto read = std::from_chars(text->data(), text->data() + text->size(), asked.quiet_runs);
    if (read.ec != std::errc{} || read.ptr != text->data() + text->size() || asked.quiet_runs == 0 || asked.quiet_runs > 1000)
      return wrong_usage(fmt::format("--runs: {} is no number from 1 to 1000", base::quoted(*text)),
                         "write how many runs must need nothing more");
  }
  for (const auto* name : {"timeout", "cwd"})
    if (const auto* value = arguments.value(name)) asked.flags.insert(asked.flags.end(), {fmt::format("--{}", name), *value});
  return asked;
}

PathKind kind_of(const AbsPath& path) { return host::look_at(path).kind; }

// A path as the operator writes it; hosts are no paths.
std::string yes_text(const std::string& text, const PathContext& context) {
  const bool path = text.starts_with('/') || text.starts_with("~") || text.starts_with("./") || text.starts_with("../");
  const auto parsed = path ? path_argument(text, context) : Result<AbsPath>(AbsPath());
  return path && parsed ? parsed->text() : text;
}

AbsPath real_of(const AbsPath& path) {
  auto real = host::resolve_existing(path);
  return real ? std::move(*real) : path;
}

class Learning {
 public:
  Learning(const Arguments& arguments, const Caller& caller, Asked asked, HostFacts facts)
      : caller_(caller),
        asked_(std::move(asked)),
        command_(arguments.operands()),
        facts_(std::move(facts)),
        needs_({.facts = facts_, .project = facts_.project_root, .kind_of = kind_of}),
        composing_{.facts = facts_, .project = facts_.project_root},
        interactive_(caller.input_terminal && caller.terminal) {
    const auto context = path_context(caller);
    for (const auto& text : arguments.all("yes-for")) needs_.say_yes(yes_text(text, context));
  }

  Result<Reply> learn() {
    HARN_OK(load_base());
    if (asked_.output) {
      HARN_TRY(held, host::HeldPlace::open(*asked_.output));
      held_.emplace(std::move(held));
    }
    HARN_TRY(place, LearnPlace::make(caller_));
    see_first_program();
    HARN_OK(watch(place));
    return finish(place);
  }

 private:
  // A file that is there is where learning goes on.
  Status load_base() {
    if (!asked_.output) return {};
    HARN_TRY(source, read_source_if_present(*asked_.output));
    if (!source) return {};
    HARN_TRY(policy, parse_policy(*source, facts_.home));
    composing_.base = policy;
    HARN_TRY(resolved, resolve_policy_paths(with_project_root(std::move(policy), facts_.project_root)));
    base_rules_ = PathRules::for_processes(resolved, facts_);
    composing_.base_rules = &base_rules_;
    return {};
  }

  // Our own exec is seen by nobody.
  void see_first_program() {
    const auto path = caller_.environment.find("PATH");
    const auto found = learn::find_program(command_.front(), caller_.cwd, path == caller_.environment.end() ? std::string() : path->second);
    if (found) see_program(*found);
  }
  bool see_program(const AbsPath& program) {
    bool news = false;
    for (const auto& path : learn::opened_to_start(program)) news = needs_.take_program(path, "started") || news;
    return news;
  }

  Result<LearnOutcome> run(const Policy& policy, const LearnPlace& place, bool watched) {
    ++runs_;
    const auto network = policy.network && (policy.network->loopback || !policy.network->allowed_hosts.empty());
    const auto& presets = policy.effective_presets();
    const auto watching = [&](const Refused& access, const Prepared& prepared) {
      needs_.take_worked(access, {prepared.rules, network, presets.contains(Preset::user_temp)});
      if (access.wanted == Wanted::running)
        if (const auto path = AbsPath::parse(access.target)) see_program(*path);
    };
    HARN_TRY(ran, run_for_learning({.policy = policy_to_toml(policy),
                                    .flags = asked_.flags,
                                    .command = command_,
                                    .watched = watched,
                                    .keep = asked_.keep,
                                    .interactive = interactive_},
                                   place, caller_, watching));
    if (ran.outcome.exit_code == -SIGINT || ran.outcome.exit_code == -SIGTERM)
      return fail(Error{.code = ErrorCode::refused,
                        .stage = Stage::supervise,
                        .message = "learning was interrupted; nothing was written",
                        .hint = "let the command end by itself, or give it --timeout"});
    if (!ran.discarded && !asked_.keep && std::exchange(say_kept_, false))
      caller_.tell("harn: learn: there are no layers here (no user namespaces): what the runs change stays\n");
    return ran;
  }

  void take(const LearnOutcome& ran, const Policy& policy) {
    const bool network = policy.network && !policy.network->allowed_hosts.empty();
    const learn::Needs::Run under{ran.prepared.rules, network, policy.effective_presets().contains(Preset::user_temp)};
    const auto withheld = needs_.withheld().size();
    for (const auto& contact : ran.outcome.contacted) needs_.take_contact(contact);
    for (const auto& denial : ran.outcome.denials) needs_.take_denial(denial, under);
    if (needs_.withheld().size() > withheld && ask_for_withheld(caller_, withheld, needs_))
      for (const auto& denial : ran.outcome.denials) needs_.take_denial(denial, under);
  }

  Policy next(bool narrow) const { return narrow ? learn::least_policy(composing_, needs_) : learn::watching_policy(composing_, needs_); }

  // Wide until nothing new is refused, then narrow until nothing is.
  Status watch(const LearnPlace& place) {
    bool narrow = false;
    std::size_t quiet = 0;
    while (quiet < asked_.quiet_runs) {
      if (runs_ >= most_runs + asked_.quiet_runs) {
        settled_ = false;
        caller_.tell(fmt::format("harn: learn: after {} runs it still asks for more; the policy holds what was seen\n", runs_));
        return {};
      }
      policy_ = next(narrow);
      HARN_TRY(ran, run(policy_, place, /*watched=*/true));
      take(ran, policy_);
      last_ = std::move(ran.outcome);
      const bool more = next(narrow) != policy_;
      caller_.tell(progress_line(runs_, last_.denials.size(), more));
      if (more) quiet = 0;
      else if (narrow) ++quiet;
      else narrow = true;
    }
    return {};
  }

  Result<Reply> finish(const LearnPlace& place) {
    std::vector<learn::UnusedGrant> unused;
    if (composing_.base) unused = learn::unused_grants(*composing_.base, facts_, needs_, real_of);
    policy_ = learn::least_policy(composing_, needs_);
    if (asked_.prune) policy_ = learn::without_unused(std::move(policy_), unused);
    HARN_OK(close_own_file());
    HARN_TRY(checked, run(policy_, place, /*watched=*/false));
    Reply reply;
    const int code = exit_code_of(checked.outcome);
    const bool same = code == exit_code_of(last_);
    const bool proved = settled_ && same && code == 0;
    const auto text = learn::learned_text(
        {.policy = policy_, .needs = needs_, .provenance = {.command = command_text(), .runs = runs_, .proved = proved}});
    HARN_OK(check_text(text));
    reply.err = withheld_lines(needs_.withheld()) + unused_lines(unused, asked_.prune);
    if (held_) HARN_OK(held_->keep(text));
    else reply.out = text;
    reply.err += verdict(checked.outcome, same, proved);
    reply.exit_code = proved ? 0 : exit_no;
    return reply;
  }

  std::string verdict(const Outcome& checked, bool same, bool proved) const {
    const auto code = exit_code_of(checked);
    if (proved)
      return fmt::format("harn: learn: the policy suffices: a run under it ended as the {} watched one{} did\n", runs_ - 1,
                         runs_ == 2 ? "" : "s");
    std::string out =
        same ? fmt::format("harn: learn: not proved: the command ends with {} also where nothing is refused any more\n", code)
             : fmt::format("harn: learn: not sufficient: under the policy the command ends with {}, watched it ended with {}\n", code,
                           exit_code_of(last_));
    if (code == 0 && same) out = "harn: learn: not proved: new refusals came with every run\n";
    return out + last_words(checked);
  }

  // In a place the command may write, a policy must close itself.
  Status close_own_file() {
    if (!asked_.output) return {};
    HARN_TRY(resolved, resolve_policy_paths(policy_));
    if (!PathRules::for_processes(resolved, facts_).decide(*asked_.output, FileOp::write).allowed) return {};
    if (!policy_.read_only_roots) policy_.read_only_roots.emplace();
    policy_.read_only_roots->push_back(*asked_.output);
    policy_ = canonical(std::move(policy_));
    if (kind_of(*asked_.output) == PathKind::missing) HARN_OK(held_->keep(policy_to_toml(policy_)));
    return {};
  }

  Status check_text(const std::string& text) const {
    const auto parsed = parse_policy_toml(text, {.home = facts_.home, .file_name = "learned policy"});
    if (parsed && digest(*parsed) == digest(policy_)) return {};
    return fail(Error{
        .code = ErrorCode::internal,
        .stage = Stage::load,
        .message = "what was learned cannot be written down: " + (parsed ? std::string("it reads differently") : parsed.error().message),
        .hint = "a path that is no text cannot stand in a policy; rename it"});
  }

  std::string command_text() const {
    std::vector<std::string> words;
    for (const auto& word : command_) words.push_back(base::shell_word(word));
    return base::join(words, " ");
  }

  const Caller& caller_;
  Asked asked_;
  std::vector<std::string> command_;
  HostFacts facts_;
  learn::Needs needs_;
  std::optional<host::HeldPlace> held_ = {};  // before any run, because afterwards the names on the way may be a command's
  PathRules base_rules_ = {};
  learn::Composing composing_;
  Policy policy_ = {};
  Outcome last_ = {};
  std::size_t runs_ = 0;
  bool interactive_ = false;
  bool settled_ = true;
  bool say_kept_ = true;
};

}  // namespace

Result<Reply> learn_verb(const Arguments& arguments, const Caller& caller) {
  HARN_TRY(asked, read_asked(arguments, caller));
  HARN_TRY(facts, proved_facts(caller));
  return Learning(arguments, caller, std::move(asked), std::move(facts)).learn();
}

}  // namespace harn::cli
