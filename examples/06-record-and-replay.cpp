// SPDX-License-Identifier: Apache-2.0
// A run is recorded, and answered again without running: tests of an agent need neither its tools nor a sandbox.
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "harn/embed.h"

namespace {

using namespace harn;

Result<Outcome> count_once(Context context, const AbsPath& work) {
  HARN_TRY(sandbox, Sandbox::open({.workspace_roots = {{work}}}, std::move(context)));
  return sandbox.run({.argv = {"sh", "-c", "echo run >> count; wc -l < count"}});
}

Result<int> show(const AbsPath& work) {
  const Context here{.environment = {{"HOME", std::getenv("HOME")}, {"PATH", "/usr/bin:/bin"}}, .cwd = work};
  const auto file = work.join("example.tape");
  std::filesystem::remove(file.text());
  std::filesystem::remove(work.join("count").text());
  {
    HARN_TRY(tape, TapeWriter::open(file));
    auto recording = here;
    recording.tape = &tape;
    HARN_TRY(ran, count_once(recording, work));
    std::printf("ran: %s", ran.captured_stdout->c_str());
  }
  HARN_TRY(tape, Tape::open(file));
  Replay replay(std::move(tape));
  auto replaying = here;
  replaying.replay = &replay;
  HARN_TRY(again, count_once(replaying, work));
  std::printf("replayed: %s", again.captured_stdout->c_str());
  const auto extra = count_once(replaying, work);
  std::printf("once more: %s\n", extra ? "ran" : "not on the tape");
  HARN_TRY(really, count_once(here, work));
  std::printf("really run: %s", really.captured_stdout->c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto work = AbsPath::parse(argc > 1 ? argv[1] : "");
  if (!work) return std::fprintf(stderr, "name an absolute directory\n"), 2;
  const auto shown = show(*work);
  if (!shown) std::fprintf(stderr, "%s\n", describe(shown.error()).c_str());
  return shown ? *shown : 1;
}
