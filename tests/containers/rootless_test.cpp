// SPDX-License-Identifier: Apache-2.0
// podman of an ordinary user: the command is that user inside and outside, and what the engine cannot limit here
// is said, or refused.
#include <sys/stat.h>

#include <filesystem>

#include "base/json.h"
#include "containers/engine_ground.h"

namespace harn::test {
namespace {

class RootlessContainers : public Containers {};

TEST_F(RootlessContainers, TheCommandIsTheUserInsideAndOutside) {
  if (ground().uid() == 0) return;  // for the other engines
  const auto run = harn("-- sh -c 'id -u; echo made > file; exit 3'");
  EXPECT_EQ(run.exit_code, 3) << run.err;
  EXPECT_EQ(run.out, std::to_string(ground().uid()) + "\n");
  struct stat made = {};
  ASSERT_EQ(::stat(ground().work().join("file").text().c_str(), &made), 0);
  EXPECT_EQ(made.st_uid, ground().uid());
}

TEST_F(RootlessContainers, LimitsHoldOrAreNamedAndRefusedWhereNothingMayBeMissing) {
  if (ground().uid() == 0) return;
  const auto run = harn("--json --memory 64M --procs 16 -- hog heap 128");
  const auto outcome = base::parse_json(run.out);
  ASSERT_TRUE(outcome) << run.out << run.err;
  const auto& memory = *outcome->find("receipt")->find("dimensions")->find("memory");
  const bool holds = memory.find("effective")->string() == "enforced";
  EXPECT_EQ(outcome->find("oom_killed")->boolean(), holds) << run.out;
  EXPECT_EQ(run.out.find("memory_not_limited") == std::string::npos, holds) << run.out;
  const auto strict = harn("--profile os_hardened --memory 64M -- true");
  EXPECT_EQ(strict.exit_code, holds ? 0 : 125) << strict.err;
}

}  // namespace
}  // namespace harn::test
