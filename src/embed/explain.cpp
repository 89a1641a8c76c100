// SPDX-License-Identifier: Apache-2.0
#include "embed/explain.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"
#include "embed/explain_address.h"
#include "embed/works_outside.h"
#include "host/resolve_paths.h"
#include "plan/linux/dangerous_sockets.h"
#include "policy/names.h"
#include "policy/presets.h"

namespace harn::embed {
namespace {

// Of one run. A command that means to can fail in ever new ways.
constexpr std::size_t most_denials = 200;

std::string_view word_for(Wanted wanted) {
  switch (wanted) {
    case Wanted::reading: return "read";
    case Wanted::writing: return "write";
    case Wanted::making: return "create";
    case Wanted::removing: return "remove";
    case Wanted::metadata: return "change";
    case Wanted::finding: return "find";
    case Wanted::running: return "run";
    case Wanted::reaching: return "connect";
    case Wanted::calling: return "call";
  }
  return "call";
}

FileOp operation_of(Wanted wanted) {
  switch (wanted) {
    case Wanted::running: return FileOp::execute;
    case Wanted::removing: return FileOp::remove;
    case Wanted::writing:
    case Wanted::making:
    case Wanted::metadata: return FileOp::write;
    default: return FileOp::read;
  }
}

bool is_change(FileOp op) { return op == FileOp::write || op == FileOp::remove; }

std::string quoted_rule(std::string_view member, const AbsPath& rule) { return fmt::format("{} {}", member, base::quoted(rule.text())); }

// What a rule that decided is called where it was written.
std::string rule_text(const Decision& decision) {
  switch (decision.origin) {
    case Origin::nothing: return "no grant covers it";
    case Origin::workspace: return quoted_rule("workspace_roots", decision.rule);
    case Origin::read_only: return quoted_rule("read_only_roots", decision.rule);
    case Origin::process_read: return quoted_rule("process_sandbox.read_roots", decision.rule);
    case Origin::process_write: return quoted_rule("process_sandbox.write_roots", decision.rule);
    case Origin::deny: return quoted_rule("process_sandbox.read_deny_roots", decision.rule);
    case Origin::credential: return quoted_rule("credential", decision.rule);
    case Origin::exposed: return quoted_rule("process_sandbox.credentials", decision.rule);
    case Origin::protected_: return quoted_rule("protected name", decision.rule);
    case Origin::unprotect: return quoted_rule("unprotected name", decision.rule);
    case Origin::preset: return quoted_rule("preset grants only reading at", decision.rule);
    case Origin::search_path: return quoted_rule("PATH grants only reading at", decision.rule);
    case Origin::device: return quoted_rule("device", decision.rule);
    case Origin::git: return quoted_rule("git directory", decision.rule);
  }
  return {};
}

std::string flag(std::string_view name, const AbsPath& path) { return fmt::format("--{} {}", name, base::shell_word(path.text())); }

// Calls that fail for an ordinary user wherever it is.
bool needs_root(std::string_view call) {
  constexpr std::string_view names[] = {"acct",
                                        "adjtimex",
                                        "bpf",
                                        "chroot",
                                        "clock_adjtime",
                                        "clock_settime",
                                        "delete_module",
                                        "fanotify_init",
                                        "finit_module",
                                        "init_module",
                                        "ioperm",
                                        "iopl",
                                        "kexec_file_load",
                                        "kexec_load",
                                        "mount",
                                        "move_mount",
                                        "open_by_handle_at",
                                        "open_tree",
                                        "fsopen",
                                        "perf_event_open",
                                        "pivot_root",
                                        "quotactl",
                                        "reboot",
                                        "setdomainname",
                                        "sethostname",
                                        "settimeofday",
                                        "swapoff",
                                        "swapon",
                                        "syslog",
                                        "umount2",
                                        "vhangup"};
  return std::ranges::find(names, call) != std::end(names);
}

// Where the place itself is hidden, only the host knows whether a file would have been made or written.
Wanted wanted_outside(const Refused& refused, const AbsPath& path) {
  if (refused.wanted == Wanted::making && works_outside(path, Wanted::finding)) return Wanted::writing;
  return refused.wanted;
}

Result<AbsPath> where_it_leads(const AbsPath& path, Wanted wanted) {
  const bool name = wanted == Wanted::making || wanted == Wanted::removing;
  return name ? host::resolve_parent(path) : host::resolve_existing(path);
}

}  // namespace

bool explains(const Plan& plan) {
  const auto* linux = std::get_if<LinuxConfinement>(&plan.confinement);
  return linux != nullptr && linux->supervisor && linux->supervisor->explains;
}

Explainer::Explainer(const Plan& plan, const Policy& policy, const PathRules& rules, const HostFacts& facts)
    : policy_(policy),
      rules_(rules),
      linux_(std::get_if<LinuxConfinement>(&plan.confinement)),
      relayed_(plan.egress && (!plan.egress->allow.empty() || plan.egress->asks)) {
  for (const auto& credential : policy::credential_paths(facts)) credentials_.push_back(credential.path);
  if (linux_ == nullptr || !linux_->view) return;
  const auto& names = linux_->view->namespaces;
  own_network_ = std::ranges::find(names, "net") != names.end();
}

void Explainer::add(const Refused& refused, Denial denial) {
  denial.access = word_for(refused.wanted);
  denial.call = refused.call;
  denial.processes = refused.processes;
  const auto known =
      std::ranges::find_if(denials_, [&](const Denial& one) { return one.access == denial.access && one.target == denial.target; });
  if (known != denials_.end()) return;
  if (denials_.size() == most_denials) ++more_;
  else denials_.push_back(std::move(denial));
}

std::optional<Explainer::Judged> Explainer::judge(const Refused& refused) {
  auto others = std::exchange(denials_, {});
  const auto more = std::exchange(more_, 0);
  origin_ = Origin::nothing;
  take(refused);
  std::optional<Judged> out;
  if (!denials_.empty()) out = {.denial = std::move(denials_.front()), .origin = origin_};
  denials_ = std::move(others);
  more_ = more;
  return out;
}

void Explainer::keep(Denial denial) {
  const auto known = [&](const Denial& one) { return one.access == denial.access && one.target == denial.target; };
  if (std::ranges::any_of(denials_, known)) return;
  if (denials_.size() == most_denials) ++more_;
  else denials_.push_back(std::move(denial));
}

void Explainer::take(const Refused& refused) {
  if (refused.wanted == Wanted::calling) return take_call(refused);
  if (refused.target.empty() || refused.target.front() != '/') {
    if (refused.wanted == Wanted::reaching) take_address(refused);
    return;
  }
  const auto path = AbsPath::parse(refused.target);
  if (!path || AbsPath::of("/proc").contains(*path)) return;  // a command has a /proc of its own
  take_path(refused, *path);
}

// The host's files are not where a view has something of its own.
const MountStep* Explainer::private_place(const AbsPath& path) const {
  if (!linux_->view) return nullptr;
  const MountStep* deepest = nullptr;
  for (const auto& step : linux_->view->mounts)
    if (step.target.contains(path) && (deepest == nullptr || deepest->target.contains(step.target))) deepest = &step;
  if (deepest == nullptr || deepest->target.is_root()) return nullptr;
  return deepest->op == MountOp::tmpfs || deepest->op == MountOp::dev ? deepest : nullptr;
}

// Where no rule grants anything, a secret is still one: a grant would not open it.
Decision Explainer::decide(const AbsPath& path, const AbsPath& real, FileOp op) const {
  auto decision = rules_.decide(real, op);
  // The place may be open and only the link that leads there is not.
  if (decision.allowed && real != path) decision = rules_.decide(path, op);
  if (decision.allowed || decision.origin != Origin::nothing) return decision;
  for (const auto& credential : credentials_)
    if (credential.contains(real) || credential.contains(path)) return {.allowed = false, .origin = Origin::credential, .rule = credential};
  return decision;
}

// Landlock judges starting by the place it grants, not by what is denied inside (gap nested_execute).
bool Explainer::can_be_started(const AbsPath& path) const {
  if (linux_->view) return true;  // it is there, so it can be
  return linux_->landlock && std::ranges::any_of(linux_->landlock->rules, [&](const LandlockRule& rule) {
           return rule.path.contains(path) && std::ranges::find(rule.access, "execute") != rule.access.end();
         });
}

void Explainer::take_path(const Refused& told, const AbsPath& path) {
  auto refused = told;
  refused.wanted = wanted_outside(told, path);
  const auto real = where_it_leads(path, refused.wanted);
  if (!real || !works_outside(path, refused.wanted)) return;
  if (refused.wanted == Wanted::running && refused.error == 0 && can_be_started(*real)) return;
  if (refused.wanted == Wanted::reaching) {
    const auto danger = plan::danger_of(*real);
    return add(refused, {.target = real->text(),
                         .rule = "process_sandbox.unix_sockets does not name it",
                         .hint = fmt::format("process_sandbox.unix_sockets = [{{ path = \"{}\"{} }}] in a policy opens it{}", real->text(),
                                             danger.empty() ? "" : ", allow_dangerous = true",
                                             danger.empty() ? "" : fmt::format("; it gives the command {}", danger))});
  }
  const auto op = operation_of(refused.wanted);
  auto decision = decide(path, *real, op);
  const bool missing = refused.error == ENOENT || refused.error == ENOTDIR;
  // What a view has in /dev is its own, whatever stands there outside.
  if (linux_->view && !missing && AbsPath::of("/dev").contains(path)) return;
  const auto* place = missing ? private_place(path) : nullptr;
  if (decision.allowed && place == nullptr) return;
  Denial denial{.target = path.text(), .rule = rule_text(decision)};
  if (place != nullptr && (decision.allowed || decision.origin == Origin::nothing)) {
    decision = {.allowed = false, .origin = Origin::nothing, .rule = {}};
    denial.rule = fmt::format("{} is private to the run", base::quoted(place->target.text()));
  }
  origin_ = decision.origin;
  if (is_change(op)) explain_change(refused, path, decision, denial);
  else explain_read(path, decision, denial);
  add(refused, std::move(denial));
}

void Explainer::explain_read(const AbsPath& path, const Decision& decision, Denial& denial) const {
  if (decision.origin == Origin::credential) {
    denial.hint = fmt::format("a secret: process_sandbox.credentials = [\"{}\"] in a policy opens it, no flag does", decision.rule.text());
  } else if (decision.origin == Origin::deny) {
    denial.hint = fmt::format("leave out {}, or take it out of process_sandbox.read_deny_roots", flag("deny", decision.rule));
  } else if (decision.origin == Origin::protected_) {
    denial.remedy = flag("unprotect", decision.rule);
  } else {
    denial.remedy = flag("read", path);
  }
}

// Naming a writable place replaces the project as the workspace, so what is writable now is named too.
void Explainer::explain_change(const Refused& refused, const AbsPath& path, const Decision& decision, Denial& denial) const {
  if (decision.origin == Origin::credential || decision.origin == Origin::deny) return explain_read(path, decision, denial);
  if (decision.origin == Origin::protected_) {
    denial.remedy = flag("unprotect", decision.rule);
    return;
  }
  if (!(operation_of(refused.wanted) == FileOp::remove ? policy_.may_delete() : policy_.may_write())) {
    denial.rule = "side_effect_level and capabilities allow no such change";
    denial.hint = "raise side_effect_level to workspace_write, and leave the capability in";
    return;
  }
  const bool name = refused.wanted == Wanted::making || refused.wanted == Wanted::removing;
  for (const auto& root : entries(policy_.workspace_roots)) denial.remedy += flag("write", root) + " ";
  denial.remedy += flag("write", name ? path.parent() : path);
}

void Explainer::take_address(const Refused& refused) {
  const auto address = parse_address(refused.target);
  if (!address) return;
  if (address->abstract) {
    if (!listens_abstractly(address->text)) return;
    return add(
        refused,
        {.target = "@" + address->text, .rule = "abstract sockets of the host are out of reach", .hint = "no policy opens a single one"});
  }
  if (!own_network_ || relayed_) return;
  if (address->loopback && !listens_on_loopback(address->port)) return;
  add(refused, {.target = address->text,
                .rule = address->loopback ? "the command has a loopback of its own" : "the network is closed but for its own loopback",
                .remedy = "--net allowed"});
}

void Explainer::take_call(const Refused& refused) {
  if (needs_root(refused.call) && ::geteuid() != 0) return;  // refused to this user anywhere
  Denial denial{.target = refused.call, .rule = "the system call filter", .hint = "no policy opens it: run what needs it outside"};
  if (refused.call == "socket" || refused.call == "socketpair") {
    const auto family = describe_family(refused.arguments[0], refused.arguments[1]);
    denial.target = family.text;
    if (family.kind == Family::internet) {
      denial.rule = "the network is closed";
      denial.remedy = "--net allowed";
      denial.hint = "--loopback is enough for what talks only to itself";
    } else if (family.kind == Family::local) {
      denial.rule = "without user namespaces nothing here can tell named Unix sockets apart";
      denial.hint = "let this user create user namespaces ('harn doctor')";
    }
  }
  add(refused, std::move(denial));
}

namespace {

void add_limits(const Outcome& outcome, const Limits& limits, std::vector<Denial>& out) {
  const auto add = [&](bool spent, const auto& limit, std::string_view member, const auto& text, std::string_view name, auto more) {
    if (!spent || !limit) return;
    out.push_back({.access = "limit",
                   .call = {},
                   .target = std::string(member),
                   .rule = fmt::format("limits.{} = {}", member, text(*limit)),
                   .remedy = fmt::format("--{} {}", name, text(more(*limit)))});
  };
  const auto number = [](std::uint64_t value) { return fmt::format("{}", value); };
  const auto megabytes = [](std::uint64_t value) { return base::size_text(value << 20u); };
  const auto time = [](std::chrono::milliseconds value) { return base::duration_text(value); };
  const auto twice = [](auto value) { return value * 2; };
  add(outcome.oom_killed, limits.max_memory_mb, "max_memory_mb", megabytes, "memory", twice);
  add(outcome.cpu_exceeded, limits.max_cpu_seconds, "max_cpu_seconds", number, "cpu-seconds", twice);
  add(outcome.timed_out && !outcome.cpu_exceeded, limits.wall_time, "wall_time", time, "timeout", twice);
  add(outcome.processes_exceeded, limits.max_processes, "max_processes", number, "procs", twice);
  add(outcome.file_size_exceeded, limits.max_file_size_mb, "max_file_size_mb", megabytes, "file-size", twice);
  add(outcome.output_truncated, limits.max_output_bytes, "max_output_bytes", base::size_text, "output-limit", twice);
}

}  // namespace

std::vector<Denial> Explainer::finish(const Outcome& outcome) {
  // Whoever looked for something and then opened it, or something in it, was refused once.
  std::vector<Denial> out;
  for (const auto& one : denials_) {
    const bool said = one.access == "find" && std::ranges::any_of(denials_, [&](const Denial& other) {
                        if (&other == &one || other.target.empty() || other.target.front() != '/') return false;
                        const auto here = AbsPath::of(one.target);
                        const auto there = AbsPath::of(other.target);
                        return here == there ? other.access != "find" : here.contains(there);
                      });
    if (!said) out.push_back(one);
  }
  add_limits(outcome, policy_.limits, out);
  if (more_ != 0)
    out.push_back({.access = "call",
                   .target = fmt::format("{} more", more_),
                   .rule = "too many to list",
                   .hint = "explain a smaller part of the work"});
  return out;
}

void explain_no_start(const Plan& plan, Explainer& explainer, Error& error) {
  if (error.code != ErrorCode::invalid_command || error.stage != Stage::spawn || plan.argv.empty()) return;
  const std::string& name = plan.argv.front();
  std::vector<std::string> places;
  if (name.find('/') != std::string::npos) places.push_back(name.front() == '/' ? name : plan.cwd.text() + "/" + name);
  else if (const auto search = plan.env.variables.find("PATH"); search != plan.env.variables.end())
    for (const auto& directory : base::split(search->second, ':')) places.push_back(std::string(directory) + "/" + name);
  for (auto& place : places)
    explainer.take({.call = "execve", .wanted = Wanted::running, .target = std::move(place), .error = error.os_error});
  const auto denials = explainer.finish({});
  if (denials.empty()) return;
  const auto& first = denials.front();
  error.hint = fmt::format("the boundary refused {}: {}; {}", base::quoted(first.target), first.rule,
                           first.remedy.empty() ? first.hint : "allow it with " + first.remedy);
}

}  // namespace harn::embed
