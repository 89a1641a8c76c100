// SPDX-License-Identifier: Apache-2.0
// Symbolic links are resolved here, once, before a policy is compiled: two spellings of one place must
// never get two answers.
#include "host/resolve_paths.h"

#include <cerrno>

#include <fmt/format.h>

#include "base/text.h"
#include "harn/probe.h"
#include "sys/files.h"
#include "sys/tries.h"

namespace harn {
namespace host {
namespace {

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

Result<Way> way_to(const AbsPath& path) {
  constexpr std::size_t most_links = 40;  // as many as the kernel follows
  Way way;
  std::vector<std::string> names;  // still to go, the next one last
  const auto go_on = [&](std::string_view text) {
    const auto parts = base::split(text, '/');
    names.insert(names.end(), parts.rbegin(), parts.rend());
  };
  go_on(path.text());
  while (!names.empty()) {
    const auto name = std::move(names.back());
    names.pop_back();
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      way.end = way.end.parent();
      continue;
    }
    auto next = way.end.join(name);
    if (sys::type_of(next) != sys::FileType::link) {
      way.end = std::move(next);
      continue;
    }
    if (way.links.size() == most_links) return fail(link_loop(path));
    HARN_TRY(text, sys::link_text(next));
    if (text.starts_with('/')) way.end = {};
    go_on(text);
    way.links.push_back(std::move(next));
  }
  return way;
}

Result<AbsPath> resolve_links(const AbsPath& path) {
  HARN_TRY(way, way_to(path));
  return std::move(way.end);
}

PathFact look_at(const AbsPath& path) {
  auto found = sys::find(path);
  PathFact fact{.kind = kind_from(found.type), .locked = found.locked};
  fact.datagram = fact.kind == PathKind::socket && sys::takes_datagrams(path);
  if (fact.kind != PathKind::missing && found.real != path) fact.link_target = std::move(found.real);
  return fact;
}

}  // namespace host
}  // namespace harn
