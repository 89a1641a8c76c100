// SPDX-License-Identifier: Apache-2.0
// An engine that dies and comes back in the middle of a command: the outcome says so, and nothing is left.
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "containers/engine_ground.h"

namespace harn::test {
namespace {

using namespace std::chrono_literals;

TEST_F(Containers, AnEngineThatDiesTakesTheCommandAlongAndLeavesNothing) {
  if (ground().engine() != "docker") return;  // podman has no daemon that could die
  ground().shell("rm -f ../seen beat");
  ProgramRun run;
  std::thread running([&] {
    run = ground().shell(ground().harn_words("--timeout 60s -- sh -c 'echo up; while :; do date >> beat; sleep 0.05; done'") +
                         " > ../seen </dev/null");
  });
  while (ground().shell("grep -qs up ../seen").exit_code != 0) std::this_thread::sleep_for(50ms);
  ground().kill_daemon();
  running.join();
  EXPECT_EQ(run.exit_code, 125) << run.err;
  EXPECT_NE(run.err.find("the command was started and then lost: the docker daemon at unix://" + ground().root() +
                         "/docker.sock does not answer\n  hint: "),
            std::string::npos)
      << run.err;
  // Whoever is left of it has ended by itself: its harn is gone.
  EXPECT_EQ(ground().shell("a=$(wc -l < beat); sleep 0.4; test $a = $(wc -l < beat) && rm beat && echo still").out, "still\n");
  ground().start_daemon();
  EXPECT_EQ(ground().missing(), "");
  EXPECT_EQ(harn("-- true").exit_code, 0) << "and the next run sweeps";
}

}  // namespace
}  // namespace harn::test
