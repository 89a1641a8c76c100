// SPDX-License-Identifier: Apache-2.0
#include "learn/needs.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "plan/linux/dangerous_sockets.h"
#include "policy/egress_rules.h"
#include "policy/hosts.h"
#include "policy/presets.h"

namespace harn::learn {
namespace {

bool is_change(Wanted wanted) {
  return wanted == Wanted::writing || wanted == Wanted::making || wanted == Wanted::removing || wanted == Wanted::metadata;
}

constexpr std::pair<std::string_view, Wanted> access_words[] = {
    {"read", Wanted::reading},    {"write", Wanted::writing}, {"create", Wanted::making},   {"remove", Wanted::removing},
    {"change", Wanted::metadata}, {"run", Wanted::running},   {"connect", Wanted::reaching}};

Wanted wanted_of(std::string_view access) {
  for (const auto& [word, wanted] : access_words)
    if (word == access) return wanted;
  return Wanted::finding;
}

std::string_view word_of(Wanted wanted) {
  for (const auto& [word, one] : access_words)
    if (one == wanted) return word;
  return "find";
}

std::string how_of(const Denial& denial) {
  const auto who = denial.processes.empty() ? std::string() : denial.processes.back();
  return who.empty() ? denial.access : fmt::format("{} by {}", denial.access, who.substr(0, who.find('[')));
}

constexpr std::string_view allow_host = "--allow-host ";
constexpr std::string_view trusted_outside = "a protected name: programs outside run or trust it";

// In a root of its own a protected name would be a name like any other.
std::optional<AbsPath> protected_name_in(const AbsPath& path) {
  std::optional<AbsPath> out;
  for (auto at = path; !at.is_root(); at = at.parent())
    for (auto around = at.parent();; around = around.parent()) {
      if (policy::is_protected_below(around.below(at))) out = at;
      if (around.is_root() || at.depth() - around.depth() >= 4) break;  // no protected name has more components
    }
  return out;
}

}  // namespace

Needs::Needs(Ground ground) : ground_(std::move(ground)) {
  const auto& home = ground_.facts.home;
  for (const auto& secret : policy::credential_paths(ground_.facts)) secrets_.push_back(secret.path);
  for (const auto& row : policy::preset_rows())
    if (row.preset == Preset::system_runtime && row.platform == Platform::linux) system_places_.push_back(AbsPath::of(row.path));
  for (const auto* name : {".config", ".cache", ".local", ".local/share", ".local/state", ".local/lib", ".var", "snap"})
    too_wide_.insert(home.join(name));
}

bool Needs::is_too_wide(const AbsPath& path) const {
  const auto& facts = ground_.facts;
  return path.contains(facts.home) || (facts.account_home && path.contains(*facts.account_home)) || too_wide_.contains(path);
}

bool Needs::is_system(const AbsPath& path) const {
  return std::ranges::any_of(system_places_, [&](const AbsPath& place) { return place.contains(path); });
}

bool Needs::is_temporary(const AbsPath& path) const {
  if (path.text().find("/.harn-tmp/") != std::string::npos) return true;
  const bool shared = AbsPath::of("/tmp").contains(path) || AbsPath::of("/var/tmp").contains(path);
  return shared && !ground_.project.contains(path) && !ground_.facts.home.contains(path);
}

// Beneath the home directory, outside the project: settings, programs and start-up files that other programs run or trust. Caches
// and logs are kept by every tool.
bool Needs::is_of_the_user(const AbsPath& path) const {
  const auto& facts = ground_.facts;
  const bool at_home = facts.home.contains(path) || (facts.account_home && facts.account_home->contains(path));
  if (!at_home || ground_.project.contains(path)) return false;
  for (auto at = path; at != facts.home && !at.is_root(); at = at.parent()) {
    auto name = base::lower_ascii(at.name());
    if (name.find("cache") != std::string::npos || name == "_logs" || name == "logs") return false;
  }
  return true;
}

const AbsPath* Needs::secret_at(const AbsPath& path) const {
  const auto found = std::ranges::find_if(secrets_, [&](const AbsPath& secret) { return secret.contains(path); });
  return found == secrets_.end() ? nullptr : &*found;
}

bool Needs::withhold(Withheld what) {
  const auto known =
      std::ranges::any_of(withheld_, [&](const Withheld& one) { return one.what == what.what && one.access == what.access; });
  if (!known) withheld_.push_back(std::move(what));
  return false;
}

bool Needs::need(const AbsPath& path, Access access, const std::string& how) {
  if (is_too_wide(path))
    return withhold(
        {path.text(), access == Access::write ? "write" : "read", "it holds what other programs keep; grant what is meant inside it"});
  if (access == Access::write && is_system(path) && !said_yes(path.text()))
    return withhold({path.text(), "write", "it belongs to the system, which every program trusts"});
  const auto trusted = access == Access::write ? protected_name_in(path) : std::nullopt;
  if (trusted && !said_yes(trusted->text()) && !said_yes(path.text()))
    return withhold({trusted->text(), "write", std::string(trusted_outside)});
  if (access == Access::write && is_of_the_user(path) && !said_yes(path.text()))
    return withhold({path.text(), "write", "it is yours and not the project's: programs you start may run or trust it"});
  const auto known = paths_.find(path);
  if (known != paths_.end() && known->second.access >= access) return false;
  paths_[path] = {.access = access, .how = how};
  return true;
}

// Names that a run makes are not there outside: the first directory above that is, must be open to them.
bool Needs::need_change(const AbsPath& path, Wanted wanted, const std::string& how) {
  auto at = wanted == Wanted::making || wanted == Wanted::removing ? path.parent() : path;
  if (const auto scratch = at.text().find("/.harn-tmp"); scratch != std::string::npos) at = AbsPath::of(at.text().substr(0, scratch));
  while (!at.is_root() && ground_.kind_of(at) == PathKind::missing) at = at.parent();
  return need(at, Access::write, how);
}

std::optional<AbsPath> Needs::still_there(AbsPath path, Access access) const {
  while (!path.is_root() && ground_.kind_of(path) == PathKind::missing) {
    if (access != Access::write) return std::nullopt;
    path = path.parent();
  }
  return is_too_wide(path) ? std::nullopt : std::optional(std::move(path));
}

bool Needs::take_program(const AbsPath& path, const std::string& how) {
  if (is_system(path)) {
    system_ = true;
    return false;
  }
  return ground_.kind_of(path) == PathKind::missing ? false : need(path, Access::read, how);
}

void Needs::take_worked(const Refused& access, const Run& run) {
  const auto path = AbsPath::parse(access.target);
  if (!path || AbsPath::of("/proc").contains(*path)) return;
  if (is_temporary(*path)) temp_ = true;
  const auto* rule = run.rules.nearest(*path);
  if (rule == nullptr || rule->access == Access::none || rule->origin == Origin::device) return;  // the run's own, or nothing
  rules_used_.insert(rule->path);
  touched_.insert(*path);
  if (rule->origin == Origin::git || rule->origin == Origin::exposed) return;  // comes with what it belongs to
  const std::string how(word_of(access.wanted));
  if (is_change(access.wanted)) {
    need_change(*path, access.wanted, how);
    return;
  }
  if (is_system(*path)) {
    system_ = true;
    return;
  }
  const auto kind = ground_.kind_of(*path);
  if (kind == PathKind::missing || access.wanted == Wanted::reaching) return;
  if (access.wanted == Wanted::finding && kind == PathKind::directory) return;  // a grant would open all of it
  need(*path, Access::read, how);
}

bool Needs::take_denial(const Denial& denial, const Run& run) {
  if (denial.access == "host") return take_host(denial);
  if (denial.access == "limit") return withhold({denial.target, "limit", denial.rule});
  if (denial.target.empty() || denial.target.front() != '/') return take_call(denial, run);
  const auto path = AbsPath::parse(denial.target);
  return path && take_path(denial, *path, run);
}

bool Needs::take_path(const Denial& denial, const AbsPath& path, const Run& run) {
  const auto wanted = wanted_of(denial.access);
  const bool changes = is_change(wanted);
  const auto how = how_of(denial);
  if (wanted == Wanted::reaching) {
    if (said_yes(path.text())) return sockets_.insert(path).second;
    const auto danger = plan::danger_of(path);
    return withhold(
        {path.text(), "connect", danger.empty() ? "somebody outside serves this socket" : fmt::format("it gives the command {}", danger)});
  }
  // Secrets and protected names are opened as a whole, so that is what the yes must name.
  if (const auto* secret = secret_at(path)) {
    if (said_yes(secret->text())) return credentials_.insert(*secret).second;
    return withhold({secret->text(), denial.access, "a secret"});
  }
  const auto decision = run.rules.decide(path, changes ? FileOp::write : FileOp::read);
  if (decision.origin == Origin::deny) return withhold({path.text(), denial.access, "read_deny_roots closes it"});
  if (decision.origin == Origin::protected_) {
    if (said_yes(decision.rule.text())) return unprotected_.insert(decision.rule).second;
    return withhold({decision.rule.text(), denial.access, std::string(trusted_outside)});
  }
  if (is_temporary(path) && !run.temp) return !std::exchange(temp_, true);
  if (changes) return need_change(path, wanted, how);
  const auto kind = ground_.kind_of(path);
  if (kind == PathKind::missing) return false;
  if (wanted == Wanted::finding && kind == PathKind::directory) return withhold({path.text(), "find", "a grant would open all of it"});
  return need(path, Access::read, how);
}

bool Needs::take_host(const Denial& denial) {
  const bool plain = denial.remedy.starts_with(allow_host) && denial.rule != policy::why(policy::Verdict::special);
  const auto text = denial.remedy.starts_with(allow_host) ? denial.remedy.substr(allow_host.size()) : denial.target;
  const auto rule = policy::parse_host_rule(text);
  if (rule && (plain || said_yes(text) || said_yes(rule->host))) return hosts_.insert(*rule).second;
  return withhold({text, denial.call, denial.rule});
}

bool Needs::take_call(const Denial& denial, const Run& run) {
  const bool internet = denial.remedy == "--net allowed";
  const auto& linux = ground_.facts.linux;
  if (internet && !run.network && linux.user_namespaces && linux.network_namespaces) return !std::exchange(network_, true);
  if (internet && run.network) return false;  // the relay tells which hosts
  return withhold(
      {denial.target, denial.access, internet ? "nothing here opens single hosts; decide about --net allowed yourself" : denial.rule});
}

}  // namespace harn::learn
