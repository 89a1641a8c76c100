// SPDX-License-Identifier: Apache-2.0
// Symbolic links are resolved here, once, before a policy is compiled: two spellings of one place must
// never get two answers.
#include "host/resolve_paths.h"

#include <cerrno>

#include <fmt/format.h>

#include "base/text.h"
#include "harn/probe.h"
#include "sys/files.h"

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

Error link_loop(const AbsPath& path) {
  return {.code = ErrorCode::invalid_policy,
          .stage = Stage::load,
          .os_error = ELOOP,
          .message = fmt::format("the path {} runs in a circle of symbolic links", base::quoted(path.text())),
          .hint = "remove the loop, or name the real directory"};
}

}  // namespace

Result<AbsPath> resolve_existing(const AbsPath& path) {
  auto real = sys::real_path(path);
  if (real) return real;
  if (real.error().os_error == ELOOP) return fail(link_loop(path));
  return resolve_parent(path);
}

Result<AbsPath> resolve_parent(const AbsPath& path) {
  if (path.is_root()) return path;
  HARN_TRY(parent, resolve_existing(path.parent()));
  return parent.join(path.name());
}

Result<AbsPath> resolve_links(const AbsPath& path) {
  constexpr int most_links = 40;  // as many as the kernel follows
  auto at = path;
  for (int followed = 0; followed < most_links; ++followed) {
    HARN_TRY(named, resolve_existing(at));
    if (sys::type_of(named) != sys::FileType::link) return named;
    HARN_TRY(text, sys::link_text(named));
    HARN_TRY(target, AbsPath::parse(looks_absolute(text) ? text : named.parent().text() + "/" + text));
    at = std::move(target);
  }
  return fail(link_loop(path));
}

PathFact look_at(const AbsPath& path) {
  auto found = sys::find(path);
  PathFact fact{.kind = kind_from(found.type), .locked = found.locked};
  if (fact.kind != PathKind::missing && found.real != path) fact.link_target = std::move(found.real);
  return fact;
}

}  // namespace host

namespace {

// Inside a writable root the command makes the links. A root named there that leads out of it would
// open whatever an earlier run pointed it at.
Status check_links_out(const Policy& policy) {
  const auto& process = policy.process_sandbox;
  std::vector<AbsPath> writable = entries(policy.workspace_roots);
  writable.insert(writable.end(), entries(process.write_roots).begin(), entries(process.write_roots).end());
  std::vector<AbsPath> named = writable;
  for (const auto* list : {&policy.read_only_roots, &process.read_roots})
    named.insert(named.end(), entries(*list).begin(), entries(*list).end());
  for (const auto& path : named) {
    HARN_TRY(real, host::resolve_existing(path));
    for (const auto& root : writable) {
      if (root == path || !root.contains(path)) continue;
      HARN_TRY(real_root, host::resolve_existing(root));
      if (real_root.contains(real)) continue;
      return fail(Error{.code = ErrorCode::refused,
                        .stage = Stage::load,
                        .message = "the root " + base::quoted(path.text()) + " is a link out of the writable " + base::quoted(root.text()) +
                                   " to " + base::quoted(real.text()),
                        .hint = "the command could have made it; name the target itself"});
    }
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

Result<Policy> resolve_policy_paths(Policy policy) {
  auto& process = policy.process_sandbox;
  HARN_OK(check_links_out(policy));
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
