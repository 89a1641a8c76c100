// SPDX-License-Identifier: Apache-2.0
#include "run/replay_aside.h"

#include <signal.h>

#include "run/spawn_failure.h"
#include "sys/files.h"

namespace harn::run {
namespace {

constexpr std::size_t stack_bytes = 65536;

}  // namespace

void settle(PreparedParts& parts) {
  parts.launch.outer = parts.outer.script();
  parts.launch.inner = parts.inner.script();
  parts.argv = {nullptr};
  parts.stacks = std::make_unique_for_overwrite<char[]>(stack_bytes + 16);
  const auto base = (reinterpret_cast<std::uintptr_t>(parts.stacks.get()) + 15) & ~std::uintptr_t{15};
  parts.outer_stack_top = reinterpret_cast<char*>(base + stack_bytes);
}

Status replay_aside(PreparedParts& parts, std::uint64_t flags, ChildScript script, std::string_view what) {
  child::Word pid = 0;
  {
    const SignalsBlocked blocked;
    pid = child::start_sharing(static_cast<child::Word>(flags) | SIGCHLD, parts.outer_stack_top, nullptr, script, &parts.launch);
  }
  if (pid < 0) return fail(sys::os_failure("clone", what, static_cast<int>(-pid), Stage::spawn));
  reap_child(static_cast<pid_t>(pid));
  if (parts.launch.report.failed_step < 0) return {};
  return fail(explain_failure(parts));
}

}  // namespace harn::run
