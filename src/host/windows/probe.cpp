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
namespace {

PathKind kind_from(sys::FileType type) {
  switch (type) {
    case sys::FileType::missing: return PathKind::missing;
    case sys::FileType::directory: return PathKind::directory;
    case sys::FileType::file: return PathKind::file;
    case sys::FileType::device: return PathKind::device;
    case sys::FileType::socket: return PathKind::socket;
    case sys::FileType::link:
    case sys::FileType::other: break;
  }
  return PathKind::other;
}

}  // namespace

Result<AbsPath> resolve_existing(const AbsPath& path) {
  if (auto real = sys::real_path(path)) return real;
  return resolve_parent(path);
}

Result<AbsPath> resolve_parent(const AbsPath& path) {
  if (path.is_root()) return path;
  HARN_TRY(parent, resolve_existing(path.parent()));
  return parent.join(path.name());
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

// Every name on the way that is a link.
std::vector<AbsPath> links_to(const AbsPath& path) {
  std::vector<AbsPath> out;
  for (auto at = path; !at.is_root(); at = at.parent())
    if (sys::type_of(at) == sys::FileType::link) out.push_back(at);
  return out;
}

std::vector<AbsPath> opened_by(const Policy& policy) {
  std::vector<AbsPath> out;
  const auto& process = policy.process_sandbox;
  for (const auto* list : {&policy.workspace_roots, &process.write_roots, &policy.read_only_roots, &process.read_roots})
    out.insert(out.end(), entries(*list).begin(), entries(*list).end());
  for (const auto& socket : entries(process.unix_sockets)) out.push_back(socket.path);
  return out;
}

Status check_way(const AbsPath& named, const std::vector<AbsPath>& writable) {
  HARN_TRY(end, host::resolve_existing(named));
  for (const auto& link : links_to(named))
    for (const auto& root : writable)
      if (root.contains(resolved(link.parent())) && !root.contains(end))
        return fail(
            Error{.code = ErrorCode::refused,
                  .stage = Stage::compose,
                  .message = fmt::format("the path {} goes through {}, a link out of the writable {} to {}", base::quoted(named.text()),
                                         base::quoted(link.text()), base::quoted(root.text()), base::quoted(end.text())),
                  .hint = "the command could have made it; name the target itself"});
  return {};
}

Status resolve_all(std::vector<AbsPath>& paths, Result<AbsPath> (*resolve)(const AbsPath&)) {
  for (auto& path : paths) {
    HARN_TRY(real, resolve(path));
    path = std::move(real);
  }
  return {};
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

Status check_planted_links(const std::vector<Policy>& written, std::vector<AbsPath> writable) {
  for (const auto& policy : written)
    for (const auto* list : {&policy.workspace_roots, &policy.process_sandbox.write_roots})
      for (const auto& root : entries(*list)) writable.push_back(resolved(root));
  for (const auto& policy : written) {
    for (const auto& path : opened_by(policy)) HARN_OK(check_way(path, writable));
    for (const auto* list : {&policy.process_sandbox.credentials, &policy.unprotect})
      for (const auto& path : entries(*list)) HARN_OK(check_way(path.parent(), writable));
  }
  return {};
}

Result<Policy> resolve_policy_paths(Policy policy) {
  auto& process = policy.process_sandbox;
  HARN_OK(check_planted_links({policy}, {}));
  for (auto* list : {&policy.workspace_roots, &policy.read_only_roots, &process.read_roots, &process.write_roots})
    if (*list) HARN_OK(resolve_all(**list, host::resolve_existing));
  HARN_OK(resolve_all(process.read_deny_roots, host::resolve_existing));
  for (auto* list : {&policy.unprotect, &process.credentials})
    if (*list) HARN_OK(resolve_all(**list, host::resolve_parent));
  if (!process.unix_sockets) return policy;
  for (auto& socket : *process.unix_sockets) {
    HARN_TRY(real, host::resolve_existing(socket.path));
    socket.path = std::move(real);
  }
  return policy;
}

}  // namespace harn
