// SPDX-License-Identifier: Apache-2.0
// Patterns become grants. The kernel knows paths, not patterns, so a glob is granted from its
// longest literal prefix down; whatever that widens is reported, never assumed away.
#include <algorithm>

#include <fmt/format.h>

#include "base/glob.h"
#include "base/text.h"
#include "harn/permission.h"
#include "policy/hosts.h"
#include "policy/read_permission.h"

namespace harn {
namespace {

using Paths = std::vector<AbsPath>;

struct Grant {
  std::string glob = {};
  AbsPath path = {};
  std::string remainder = {};

  // "**" is everything beneath, and a glob without wildcards is the path itself.
  bool exact() const { return remainder.empty() || remainder == "**"; }
};

Result<std::vector<Grant>> grants_of(const std::vector<std::string>& globs, const AbsPath& project_root) {
  std::vector<Grant> grants;
  for (const std::string& text : globs) {
    HARN_TRY(glob, base::Glob::compile(text));
    for (auto& [literal, remainder] : glob.prefixes()) {
      // Only a path literal up to the drive is a Windows root; "C*" is a name like any other.
      HARN_TRY(path, looks_absolute(literal) ? AbsPath::parse(literal) : Result<AbsPath>(project_root.join(literal)));
      grants.push_back({text, std::move(path), remainder});
    }
  }
  return grants;
}

// Sorted; a path beneath another one is dropped. A directory sorts directly before its subtree.
Paths outermost(const std::vector<Grant>& grants) {
  Paths sorted;
  for (const Grant& grant : grants) sorted.push_back(grant.path);
  std::sort(sorted.begin(), sorted.end());
  Paths out;
  for (AbsPath& path : sorted)
    if (out.empty() || !out.back().contains(path)) out.push_back(std::move(path));
  return out;
}

// `roots` as outermost() returns them.
bool lies_in(const Paths& roots, const AbsPath& path) {
  const auto after = std::upper_bound(roots.begin(), roots.end(), path);
  return after != roots.begin() && std::prev(after)->contains(path);
}

SideEffectLevel level_of(const PermissionPolicy& permission) {
  if (!permission.net.empty()) return SideEffectLevel::network;
  if (!permission.exec.empty()) return SideEffectLevel::process_exec;
  if (!permission.write.empty()) return SideEffectLevel::workspace_write;
  return permission.read.empty() ? SideEffectLevel::none : SideEffectLevel::read_only;
}

Capabilities capabilities_of(const PermissionPolicy& permission) {
  Capabilities held;
  if (!permission.read.empty()) held.workspace = {WorkspaceOp::read_text, WorkspaceOp::list, WorkspaceOp::exists};
  if (!permission.write.empty()) held.workspace.insert({WorkspaceOp::write_text, WorkspaceOp::delete_});
  if (!permission.exec.empty()) held.process = {ProcessOp::exec};
  return held;
}

Result<Network> network_of(const std::vector<std::string>& net) {
  Network network;
  if (std::any_of(net.begin(), net.end(), policy::is_every_host)) {
    network.mode = NetworkMode::unrestricted;
    return network;
  }
  for (const std::string& text : net) {
    HARN_TRY(rule, policy::parse_host_rule(text));
    network.allowed_hosts.push_back(std::move(rule));
  }
  network.allowed_hosts = policy::canonical_hosts(std::move(network.allowed_hosts));
  return network;
}

void report_wider(std::string_view axis, const std::vector<Grant>& grants, std::vector<PermissionRemainder>& out) {
  for (const Grant& grant : grants)
    if (!grant.exact())
      out.push_back({std::string(axis), grant.glob, grant.path.text(),
                     fmt::format("everything beneath {} is granted, not only what matches {}", base::quoted(grant.path.text()),
                                 base::quoted(grant.remainder))});
}

// No backend can grant writing without reading.
void report_readable(const std::vector<Grant>& writes, const Paths& readable, std::vector<PermissionRemainder>& out) {
  for (const Grant& grant : writes)
    if (!lies_in(readable, grant.path))
      out.push_back({"write", grant.glob, grant.path.text(), "a command may also read what it may write"});
}

void report_programs(const std::vector<std::string>& exec, std::vector<PermissionRemainder>& out) {
  for (const std::string& glob : exec)
    if (glob != "**" && glob != "*")
      out.push_back({"exec", glob, "", "every program a command can read it can also run; commands are no boundary"});
}

}  // namespace

Result<LoweredPermission> lower_permission(const PermissionPolicy& permission, const AbsPath& project_root) {
  HARN_TRY(reads, grants_of(permission.read, project_root));
  HARN_TRY(writes, grants_of(permission.write, project_root));
  HARN_OK(grants_of(permission.exec, project_root));
  HARN_TRY(network, network_of(permission.net));

  LoweredPermission lowered;
  Policy& policy = lowered.policy;
  policy.side_effect_level = level_of(permission);
  policy.capabilities = capabilities_of(permission);
  policy.network = std::move(network);
  const Paths readable = outermost(reads);
  const Paths writable = outermost(writes);
  // The most specific path decides: a read grant inside a writable root would take writing away.
  Paths& read_only = policy.read_only_roots.emplace();
  for (const AbsPath& path : readable)
    if (!lies_in(writable, path)) read_only.push_back(path);
  policy.workspace_roots = writable;
  // Presets exist so that programs start; without exec they would only widen.
  if (permission.exec.empty()) policy.process_sandbox.presets = std::set<Preset>{};

  report_wider("read", reads, lowered.remainders);
  report_wider("write", writes, lowered.remainders);
  report_readable(writes, readable, lowered.remainders);
  report_programs(permission.exec, lowered.remainders);
  std::sort(lowered.remainders.begin(), lowered.remainders.end());
  const auto last = std::unique(lowered.remainders.begin(), lowered.remainders.end());
  lowered.remainders.erase(last, lowered.remainders.end());
  return lowered;
}

}  // namespace harn
