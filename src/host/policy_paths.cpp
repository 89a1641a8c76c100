// SPDX-License-Identifier: Apache-2.0
// The paths of a policy with their links resolved, and links that an earlier command may have planted.
#include <fmt/format.h>

#include "base/text.h"
#include "harn/probe.h"
#include "host/resolve_paths.h"

namespace harn {
namespace host {

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

}  // namespace host

namespace {

using host::Way;

// How each path is reached that opens something. Of `credentials` and `unprotect` the last name stays.
Result<std::vector<std::pair<AbsPath, Way>>> ways_of(const Policy& policy) {
  std::vector<std::pair<AbsPath, AbsPath>> followed;  // as named, and as far as links are followed
  const auto& process = policy.process_sandbox;
  for (const auto* list : {&policy.workspace_roots, &process.write_roots, &policy.read_only_roots, &process.read_roots})
    for (const auto& path : entries(*list)) followed.emplace_back(path, path);
  for (const auto* list : {&process.credentials, &policy.unprotect})
    for (const auto& path : entries(*list)) followed.emplace_back(path, path.parent());
  for (const auto& socket : entries(process.unix_sockets)) followed.emplace_back(socket.path, socket.path);
  std::vector<std::pair<AbsPath, Way>> out;
  for (auto& [named, path] : followed) {
    HARN_TRY(way, host::way_to(path));
    out.emplace_back(std::move(named), std::move(way));
  }
  return out;
}

Status check_way(const AbsPath& named, const Way& way, const std::vector<AbsPath>& writable) {
  for (const auto& link : way.links)
    for (const auto& root : writable) {
      if (!root.contains(link) || root.contains(way.end)) continue;
      return fail(
          Error{.code = ErrorCode::refused,
                .stage = Stage::compose,
                .message = fmt::format("the path {} goes through {}, a link out of the writable {} to {}", base::quoted(named.text()),
                                       base::quoted(link.text()), base::quoted(root.text()), base::quoted(way.end.text())),
                .hint = "the command could have made it; name the target itself"});
    }
  return {};
}

Status resolve_all(std::vector<AbsPath>& paths, Result<AbsPath> (*resolve)(const AbsPath&)) {
  for (auto& path : paths) {
    HARN_TRY(real, resolve(path));
    path = std::move(real);
  }
  return {};
}

}  // namespace

Status check_planted_links(const std::vector<Policy>& written, std::vector<AbsPath> writable) {
  std::vector<std::pair<AbsPath, Way>> ways;
  for (const auto& policy : written) {
    for (const auto* list : {&policy.workspace_roots, &policy.process_sandbox.write_roots})
      for (const auto& root : entries(*list)) {
        HARN_TRY(real, host::resolve_existing(root));
        writable.push_back(std::move(real));
      }
    HARN_TRY(more, ways_of(policy));
    ways.insert(ways.end(), more.begin(), more.end());
  }
  for (const auto& [named, way] : ways) HARN_OK(check_way(named, way, writable));
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
