// SPDX-License-Identifier: Apache-2.0
#include "run/gates_into.h"

#include <errno.h>
#include <sched.h>

#include "run/prepare_gates.h"
#include "run/replay_aside.h"

namespace harn::run {

Status open_gates_into(const GatesInto& request) {
  HARN_TRY(spaces, namespaces_in(request.directory));
  PreparedParts parts;
  auto& writer = parts.inner;
  writer.add({.op = child::Op::join_namespace, .number = spaces.user.get(), .mask = CLONE_NEWUSER}, "join the session's user namespace");
  writer.add({.op = child::Op::join_namespace, .number = spaces.network.get(), .mask = CLONE_NEWNET}, "join the session's network");
  const auto steps = writer.steps().size();
  if (request.served) write_more_gates(writer, request.egress, *request.served, request.channel, parts.gates);
  else write_gates(writer, request.egress, request.channel, parts.gates);
  if (writer.steps().size() == steps) return {};
  settle(parts);
  auto done = replay_aside(parts, 0, child::replay_inner, "for the session's network");
  if (!done && done.error().os_error == EADDRINUSE)
    done.error().hint = "a program in the session listens there: end it, or use another port";
  return done;
}

}  // namespace harn::run
