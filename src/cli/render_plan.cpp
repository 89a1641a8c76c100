// SPDX-License-Identifier: Apache-2.0
#include "cli/render_plan.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"
#include "cli/render.h"
#include "plan/names.h"
#include "policy/hosts.h"

namespace harn::cli {
namespace {

constexpr std::size_t screen_width = 80;
constexpr std::size_t coverage_column = 34;
constexpr std::size_t paths_shown = 8;
constexpr std::size_t names_shown = 12;

using Names = std::vector<std::string>;

std::string listed(const Names& names, std::size_t most) {
  if (names.size() <= most) return base::join(names, " ");
  return fmt::format("{} and {} more", base::join(std::span(names).first(most), " "), names.size() - most);
}

// "  label     text", continued under the text.
void add_line(std::string& out, std::string_view label, std::string_view text) {
  constexpr std::size_t indent = 12;
  std::string line = fmt::format("  {:<{}}", label, indent - 2);
  for (const auto& part : wrapped(text, screen_width - indent)) {
    (out += line + part) += '\n';
    line.assign(indent, ' ');
  }
}

std::string command_text(const std::vector<std::string>& argv) {
  Names words;
  for (const auto& word : argv) words.push_back(base::shell_word(word));
  return base::join(words, " ");
}

void add_head(std::string& out, const PlanPicture& picture) {
  const auto& plan = picture.plan;
  out += fmt::format("{}\n", coloured("Plan for " + command_text(plan.wasi ? plan.wasi->argv : plan.argv), Colour::bold, picture.colour));
  add_line(
      out, "backend",
      fmt::format("{}, route {}, profile {}", base::enum_name(plan.backend), base::enum_name(plan.route), base::enum_name(plan.profile)));
  add_line(out, "host", plan.host);
  add_line(out, "cwd", plan.cwd.text());
  add_line(out, "digests", fmt::format("{} {}", plan.policy_digest, digest(plan)));
  if (plan.wasi) {
    std::vector<std::string> places;
    for (const auto& preopen : plan.wasi->preopens)
      places.push_back(fmt::format("{} ({})", preopen.guest == "." ? ". = " + preopen.host.text() : preopen.guest,
                                   preopen.writable ? "writable" : "read-only"));
    add_line(out, "module", fmt::format("{}, run by {} inside the sandbox", plan.wasi->module.text(), plan.wasi->runtime));
    add_line(out, "directories", base::join(places, ", "));
  }
  for (const auto& tried : plan.tried) add_line(out, "skipped", fmt::format("{}: {}", base::enum_name(tried.backend), tried.why_not));
}

// ---- what it may do ----------------------------------------------------------------------------------

// Rules grouped by what they allow and why; what does not exist grants nothing and is not shown.
void add_paths(std::string& out, const PathRules& rules) {
  std::map<std::pair<Access, Origin>, Names> groups;
  std::size_t absent = 0;
  for (const auto& rule : rules.rules()) {
    if (rule.kind != PathKind::missing) groups[{rule.access, rule.origin}].push_back(rule.path.text());
    else if (rule.access != Access::write) ++absent;
  }
  out += "Paths\n";
  static constexpr std::pair<Access, std::string_view> order[] = {
      {Access::write, "write"}, {Access::read, "read"}, {Access::none, "closed"}};
  for (const auto& [access, label] : order)
    for (const auto& [key, paths] : groups)
      if (key.first == access) add_line(out, label, fmt::format("{} ({})", listed(paths, paths_shown), base::enum_name(key.second)));
  if (!rules.writes_allowed() && !rules.removes_allowed()) add_line(out, "write", "nothing");
  if (absent != 0) add_line(out, "absent", fmt::format("{} closed or protected names do not exist here", absent));
}

std::string network_text(const Network& network, SideEffectLevel level) {
  Names words;
  if (level < SideEffectLevel::network || (network.mode == NetworkMode::limited && network.allowed_hosts.empty())) words.push_back("none");
  else if (network.mode == NetworkMode::unrestricted) words.push_back("everything");
  else
    for (const auto& rule : network.allowed_hosts) words.push_back(policy::text_of(rule));
  if (network.loopback) words.push_back("own-loopback");
  for (const auto port : network.blocked_ports) words.push_back(fmt::format("not-port-{}", port));
  return listed(words, names_shown);
}

std::string limits_text(const Limits& limits) {
  Names parts;
  const auto add = [&](std::string_view name, const std::optional<std::uint64_t>& value, std::string_view unit) {
    if (value) parts.push_back(fmt::format("{} {}{}", name, *value, unit));
  };
  add("memory", limits.max_memory_mb, "M");
  add("cpu", limits.max_cpu_seconds, "s");
  add("processes", limits.max_processes, "");
  add("file size", limits.max_file_size_mb, "M");
  add("open files", limits.max_open_files, "");
  if (limits.max_output_bytes) parts.push_back("output " + base::size_text(*limits.max_output_bytes));
  if (limits.cpu_milli) parts.push_back(fmt::format("cpus {}.{:03}", *limits.cpu_milli / 1000, *limits.cpu_milli % 1000));
  if (limits.wall_time) parts.push_back("time " + base::duration_text(*limits.wall_time));
  if (limits.idle_timeout) parts.push_back("idle " + base::duration_text(*limits.idle_timeout));
  return parts.empty() ? "none" : base::join(parts, ", ");
}

// A direct run is bounded by nothing but the account it runs as, whatever the policy says.
void add_direct(std::string& out, const Policy& policy) {
  out += "Paths\n";
  add_line(out, "write", "everything this account can");
  out += "Other\n";
  add_line(out, "network", "everything this host reaches");
  const bool limited = policy.limits != Limits{};
  add_line(out, "limits", limited ? "not enforced: " + limits_text(policy.limits) : "none");
}

void add_private(std::string& out, const Plan& plan) {
  const auto* linux = std::get_if<LinuxConfinement>(&plan.confinement);
  if (linux == nullptr || !linux->view) return;
  Names places;
  for (const auto& step : linux->view->mounts)
    if (step.op == MountOp::tmpfs && !step.target.is_root()) places.push_back(step.target.text());
  if (!places.empty()) add_line(out, "private", fmt::format("{} (may be written; gone after the run)", listed(places, paths_shown)));
}

void add_confined(std::string& out, const PlanPicture& picture) {
  add_paths(out, picture.rules);
  add_private(out, picture.plan);
  out += "Other\n";
  add_line(out, "network", network_text(picture.policy.effective_network(), picture.policy.level()));
  add_line(out, "limits", limits_text(picture.policy.limits));
}

void add_env(std::string& out, const PlanPicture& picture) {
  Names removed;
  for (const auto& variable : picture.plan.env.removed) removed.push_back(variable.name);
  add_line(out, "env",
           fmt::format("{} kept, {} removed{}{}", picture.plan.env.variables.size(), removed.size(), removed.empty() ? "" : ": ",
                       listed(removed, names_shown)));
}

// ---- how much of it is enforced ------------------------------------------------------------------------

Colour colour_of(Enforcement status) {
  if (status == Enforcement::enforced) return Colour::green;
  return status == Enforcement::degraded ? Colour::yellow : Colour::red;
}

// The reason, unless it stands among the gaps anyway.
std::string layers_text(const Coverage& all, const DimensionCoverage& coverage) {
  auto layers = base::join(coverage.layers, " ");
  const bool told = std::ranges::find(all.gaps, coverage.reason, &Gap::detail) != all.gaps.end();
  if (told || coverage.reason.empty()) return layers;
  return layers.empty() ? coverage.reason : fmt::format("{}; {}", layers, coverage.reason);
}

void add_coverage(std::string& out, const PlanPicture& picture) {
  out += "Coverage\n";
  Names unasked;
  for (const auto& [dimension, name] : base::EnumNames<Dimension>::names) {
    const auto& coverage = picture.plan.coverage[dimension];
    if (coverage.status == Enforcement::not_requested) {
      unasked.emplace_back(name);
      continue;
    }
    const auto status = fmt::format("{:<13}", base::enum_name(coverage.status));
    std::string line = fmt::format("  {:<19}{}", name, coloured(status, colour_of(coverage.status), picture.colour));
    for (const auto& part : wrapped(layers_text(picture.plan.coverage, coverage), screen_width - coverage_column)) {
      (out += line + part) += '\n';
      line.assign(coverage_column, ' ');
    }
  }
  if (!unasked.empty()) add_line(out, "not asked", base::join(unasked, " "));
}

void add_gaps(std::string& out, const PlanPicture& picture) {
  if (!picture.plan.coverage.gaps.empty()) out += "Gaps\n";
  for (const auto& gap : picture.plan.coverage.gaps) {
    Names paths;
    for (const auto& path : gap.paths) paths.push_back(path.text());
    out += fmt::format("  {} ({})\n", gap.code, base::enum_name(gap.dimension));
    add_line(out, "", gap.detail);
    if (!paths.empty()) add_line(out, "  at", listed(paths, 4));
    if (!gap.remedy.empty()) add_line(out, "  remedy", gap.remedy);
  }
  Names notes = picture.plan.notes;
  notes.insert(notes.end(), picture.notes.begin(), picture.notes.end());
  if (!notes.empty()) out += "Notes\n";
  for (const auto& note : notes) add_line(out, "", note);
}

}  // namespace

std::string picture_of(const PlanPicture& picture) {
  std::string out;
  add_head(out, picture);
  if (picture.plan.route == Route::direct) add_direct(out, picture.policy);
  else add_confined(out, picture);
  add_env(out, picture);
  add_coverage(out, picture);
  add_gaps(out, picture);
  if (const auto& refusal = picture.plan.refusal) {
    (out += coloured("Refused", Colour::red, picture.colour)) += '\n';
    add_line(out, "", refusal->message);
    if (!refusal->hint.empty()) add_line(out, "hint", refusal->hint);
  }
  return out;
}

std::string explanation_of(const AbsPath& path, const PathRules& rules, std::string_view beside) {
  std::string out = path.text() + "\n";
  for (const auto& [op, name] : base::EnumNames<FileOp>::names) {
    const auto decision = rules.decide(path, op);
    const auto uncovered = beside.empty() ? std::string("no rule covers it") : std::string(beside);
    const auto why =
        decision.origin == Origin::nothing ? uncovered : fmt::format("{} at {}", base::enum_name(decision.origin), decision.rule.text());
    out += fmt::format("  {:<9}{:<5}{}\n", name, decision.allowed ? "yes" : "no", why);
  }
  return out;
}

}  // namespace harn::cli
