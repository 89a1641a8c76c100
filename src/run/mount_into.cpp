// SPDX-License-Identifier: Apache-2.0
#include "run/mount_into.h"

#include <errno.h>
#include <linux/mount.h>
#include <sched.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/text.h"
#include "run/prepare_landlock.h"
#include "run/prepare_view.h"
#include "run/replay_aside.h"

namespace harn::run {
namespace {

using child::Op;

constexpr std::uint64_t tame = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;

Status replay(PreparedParts& parts, std::uint64_t flags, ChildScript script) {
  auto done = replay_aside(parts, flags, script, "for a mount");
  if (!done) done.error().hint = "nothing was mounted";
  return done;
}

// A namespace of its own shows the host's mounts and may copy them; it ends at once, the copies do not.
void write_copies(const MountInto& request, ScriptWriter& writer) {
  write_identity(writer, ::geteuid(), ::getegid());
  int number = 0;
  for (const auto& step : request.steps)
    writer.add({.op = Op::take_copy,
                .number = number++,
                .mask = step.op == MountOp::bind ? tame : tame | MOUNT_ATTR_RDONLY,
                .other = writer.text(step.source)},
               fmt::format("take {}", base::quoted(step.source)));
}

void write_places(const MountInto& request, const KeptNamespaces& spaces, ScriptWriter& writer) {
  writer.add({.op = Op::join_namespace, .number = spaces.user.get(), .mask = CLONE_NEWUSER}, "join the session's user namespace");
  writer.add({.op = Op::join_namespace, .number = spaces.mount.get(), .mask = CLONE_NEWNS}, "join the session's mount namespace");
  writer.add({.op = Op::open_view}, "open the session's root");
  const auto& top = request.steps.front();
  std::vector<AbsPath> way;
  for (auto at = top.target; !at.is_root(); at = at.parent()) way.insert(way.begin(), at);
  for (const auto& part : way)
    writer.add({.op = Op::make_way, .mask = part == top.target && top.file ? 1u : 0u, .text = writer.text(part.text().substr(1))},
               fmt::format("make {}", base::quoted(part.text())));
  int number = 0;
  for (const auto& step : request.steps)
    writer.add({.op = Op::place_copy, .number = number++, .text = writer.text(step.target.text().substr(1))},
               fmt::format("mount {}", base::quoted(step.target.text())));
}

}  // namespace

Status mount_into(const MountInto& request) {
  if (request.steps.empty() || request.steps.size() > child::most_gates)
    return fail(Error{.code = ErrorCode::not_supported,
                      .stage = Stage::prepare,
                      .message = fmt::format("{} mounts at one time are too many", request.steps.size()),
                      .hint = "mount a part of it, or create the session with it"});
  for (const auto& step : request.steps)
    if (step.op != MountOp::bind && step.op != MountOp::bind_read)
      return fail(Error{.code = ErrorCode::not_supported,
                        .stage = Stage::prepare,
                        .message = fmt::format("{} holds a path that the policy denies, which a running session cannot hide",
                                               base::quoted(request.steps.front().source)),
                        .hint = "create the session with this mount"});
  HARN_TRY(spaces, namespaces_in(request.directory));
  if (spaces.ruleset) HARN_OK(add_rules(spaces.ruleset.get(), request.rules));
  PreparedParts parts;
  write_copies(request, parts.outer);
  write_places(request, spaces, parts.inner);
  settle(parts);
  for (auto& copy : parts.launch.gates) copy = -1;
  auto done = replay(parts, CLONE_NEWUSER | CLONE_NEWNS | CLONE_FILES, child::replay_outer);
  if (done) done = replay(parts, 0, child::replay_inner);
  if (done) {
    auto told = ask_keeper(request.directory, keeper::Kind::refresh);
    if (!told) done = fail(std::move(told).error());
  }
  for (const int copy : parts.launch.gates)
    if (copy >= 0) ::close(copy);
  return done;
}

}  // namespace harn::run
