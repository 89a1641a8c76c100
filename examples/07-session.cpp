// SPDX-License-Identifier: Apache-2.0
// A session: provisioned once, entered again and again, brought back to what it was, and gone at the end.
#include <cstdio>

#include "harn/session.h"

namespace {

harn::ExecRequest shell(const char* script) { return {.command = "/bin/sh", .args = {"-c", script}}; }

int failed(const harn::SandboxError& error) {
  std::fprintf(stderr, "%s\n", harn::describe(error).c_str());
  return 1;
}

}  // namespace

int main(int, char** argv, char** environment) {
  harn::Context context{.cwd = harn::AbsPath::of(argv[1])};
  for (char** entry = environment; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (const auto equals = text.find('='); equals != std::string::npos)
      context.environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  auto local = harn::LocalSandbox::open({.context = context, .sandbox_profile = harn::Profile::worktree});
  if (!local) return failed(local.error());
  auto session = local->provision({.labels = {{"persona", "builder"}}});
  if (!session) return failed(session.error());

  auto first = local->exec(session->id, shell("echo made > file; echo kept > $HARN_OUTPUTS_DIR/result; echo x > $HARN_MEMORY_DIR/x"));
  if (!first) return failed(first.error());
  std::printf("memory is %s\n", first->exit_code == 0 ? "writable" : "read-only");
  auto snapshot = local->snapshot(session->id);
  if (!snapshot) return failed(snapshot.error());
  (void)local->exec(session->id, shell("rm file"));
  if (auto restored = local->restore(*snapshot, session->id); !restored) return failed(restored.error());
  auto second = local->exec(session->id, shell("cat file"));
  if (!second) return failed(second.error());
  std::printf("file says %s", second->out.c_str());
  if (auto ended = local->terminate(session->id); !ended) return failed(ended.error());
  std::printf("sessions left: %zu\n", local->list()->size());
  return 0;
}
