// SPDX-License-Identifier: Apache-2.0
// This Windows as HostFacts. What harn/probe.h promises, with links that are reparse points.
#include "harn/probe.h"

#include <windows.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/env_names.h"
#include "base/text.h"
#include "host/git_layout.h"
#include "host/resolve_paths.h"
#include "sys/files.h"
#include "sys/windows/native.h"

namespace harn {
namespace host {

Result<AbsPath> resolve_existing(const AbsPath& path) {
  if (auto real = sys::real_path(path)) return real;
  return resolve_parent(path);
}

Result<AbsPath> resolve_parent(const AbsPath& path) {
  if (path.is_root()) return path;
  HARN_TRY(parent, resolve_existing(path.parent()));
  return parent.join(path.name());
}

// Every name on the way that is a link, by where it really stands.
Result<Way> way_to(const AbsPath& path) {
  Way way;
  for (auto at = path; !at.is_root(); at = at.parent()) {
    if (sys::type_of(at) != sys::FileType::link) continue;
    HARN_TRY(place, resolve_parent(at));
    way.links.push_back(std::move(place));
  }
  HARN_TRY(end, resolve_existing(path));
  way.end = std::move(end);
  return way;
}

PathFact look_at(const AbsPath& path) {
  auto found = sys::find(path);
  PathFact fact{.kind = kind_from(found.type), .locked = found.locked};
  // The same name in other letter case is no other place.
  if (fact.kind != PathKind::missing && !base::same_ignoring_case(found.real.text(), path.text())) fact.link_target = std::move(found.real);
  return fact;
}

}  // namespace host

namespace {

constexpr std::size_t most_inside = 4096;

AbsPath resolved(const AbsPath& path) { return host::resolve_existing(path).value_or(path); }

std::optional<AbsPath> path_variable(const std::map<std::string, std::string>& environment, std::string_view name) {
  const auto* text = base::find_ignoring_case(environment, name);
  if (text == nullptr || text->starts_with('/')) return std::nullopt;
  auto path = AbsPath::parse(*text);
  return path ? std::optional(std::move(*path)) : std::nullopt;
}

std::vector<AbsPath> search_path(const std::map<std::string, std::string>& environment) {
  std::vector<AbsPath> out;
  const auto* text = base::find_ignoring_case(environment, "PATH");
  for (const auto entry : base::split(text == nullptr ? std::string_view() : *text, ';')) {
    const auto path = entry.starts_with('/') ? AbsPath::parse("") : AbsPath::parse(base::trim(entry));
    // A link may have been planted by an earlier run, to have its target opened.
    if (path && host::look_at(*path) == PathFact{.kind = PathKind::directory} && std::ranges::find(out, *path) == out.end())
      out.push_back(*path);
  }
  return out;
}

// From the kernel itself; the documented function answers what a manifest claims.
std::string os_version() {
  using GetVersion = LONG(WINAPI*)(OSVERSIONINFOW*);
  const auto call = sys::exported<GetVersion>("ntdll.dll", "RtlGetVersion");
  OSVERSIONINFOW facts = {};
  facts.dwOSVersionInfoSize = sizeof facts;
  if (!call || (*call)(&facts) != 0) return {};
  const bool wine = sys::find_export("ntdll.dll", "wine_get_version").has_value();
  return fmt::format("{}{}.{}.{}", wine ? "wine as " : "", facts.dwMajorVersion, facts.dwMinorVersion, facts.dwBuildNumber);
}

void look_at_git(const AbsPath& root, HostFacts& facts, std::vector<std::string>& notes) {
  auto finding = host::find_git_layout(root);
  if (finding.layout) facts.git.push_back(std::move(*finding.layout));
  if (!finding.note.empty()) notes.push_back(std::move(finding.note));
  const auto guard = [&](const AbsPath& git_dir) {
    for (auto& path : host::trusted_beneath(git_dir)) facts.guarded.push_back(std::move(path));
  };
  guard(root.join(".git"));
  const auto inside = sys::list_entries(root, most_inside);
  if (!inside) {
    notes.push_back(fmt::format("{} cannot be searched for repositories: the hooks and configuration of those inside are ordinary files",
                                base::quoted(root.text())));
    return;
  }
  for (const auto& entry : *inside) {
    auto layout = entry.type == sys::FileType::directory ? host::find_nested_repository(root.join(entry.name)) : std::nullopt;
    if (!layout) continue;
    guard(layout->git_dir);
    facts.git.push_back(std::move(*layout));
  }
}

}  // namespace

std::optional<AbsPath> home_directory(const std::map<std::string, std::string>& environment) {
  return path_variable(environment, "USERPROFILE");
}

AbsPath find_project_root(const AbsPath& start) {
  for (auto at = start;; at = at.parent()) {
    if (sys::type_of(at.join("harn.toml")) == sys::FileType::file) return at;
    if (at.is_root()) return start;
  }
}

HostFacts probe_host(const ProbeRequest& request) {
  HostFacts facts;
  facts.name = "this host";
  facts.platform = Platform::windows;
  if (request.os_name) facts.os_version = os_version();
  facts.home = resolved(home_directory(request.environment).value_or(AbsPath::of("C:/nonexistent")));
  facts.temp = resolved(path_variable(request.environment, "TEMP").value_or(facts.home.join("AppData/Local/Temp")));
  facts.cwd = resolved(request.cwd);
  facts.project_root = request.project_root ? resolved(*request.project_root) : find_project_root(facts.cwd);
  facts.search_path = search_path(request.environment);
  return facts;
}

std::vector<std::string> look_at_paths(HostFacts& facts, const Policy& policy) {
  const auto rooted = with_project_root(policy, facts.project_root);
  std::vector<std::string> notes;
  facts.git.clear();
  facts.guarded.clear();
  facts.paths.clear();
  for (const auto& root : *rooted.workspace_roots) look_at_git(root, facts, notes);
  std::vector<AbsPath> targets;
  for (const auto& path : paths_of_interest(rooted, facts, [](std::string_view) { return false; })) {
    auto fact = host::look_at(path);
    if (fact.link_target) targets.push_back(*fact.link_target);
    if (fact.kind != PathKind::missing) facts.paths[path.text()] = std::move(fact);
  }
  for (const auto& target : targets) facts.paths.try_emplace(target.text(), host::look_at(target));
  return notes;
}

}  // namespace harn
