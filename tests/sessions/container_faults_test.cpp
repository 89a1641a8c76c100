// SPDX-License-Identifier: Apache-2.0
// Sessions in containers through the command line: another program enters them, and what a kill leaves is cleared away.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "containers/engine_ground.h"

namespace harn::test {
namespace {

class ContainerSessions : public Containers {
 protected:
  static ProgramRun session(const std::string& words) { return ground().shell(fmt::format("{} session {}", HARN_BINARY, words)); }
  static std::string create(const std::string& words) { return fmt::format("create --backend {} {}", ground().engine(), words); }
};

TEST_F(ContainerSessions, OutliveWhoMadeThem) {
  const auto made = session(create("--id kept --lifetime 1h"));
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(made.out, "kept\n");
  EXPECT_EQ(session("exec kept -- sh -c 'echo x > /tmp/own; echo y > seen; exit 3'").exit_code, 3);
  EXPECT_EQ(session("exec kept -- cat /tmp/own seen").out, "x\ny\n");
  EXPECT_NE(session("list").out.find("running"), std::string::npos);
  EXPECT_NE(session("show kept").out.find("container"), std::string::npos);
  EXPECT_EQ(session("suspend kept").exit_code, 0);
  EXPECT_NE(session("list").out.find("suspended"), std::string::npos);
  EXPECT_EQ(session("exec kept -- echo awake").out, "awake\n");
  EXPECT_EQ(session("exec --keep kept -- true").exit_code, 125);
  EXPECT_EQ(session("mount kept /usr/share:/mnt/x").exit_code, 125);
  EXPECT_EQ(session("network kept allowed").exit_code, 125);
  EXPECT_EQ(session("gc").out, "");
  EXPECT_EQ(session("terminate kept").exit_code, 0);
}

TEST_F(ContainerSessions, AKilledCommandEndsAlone) {
  ASSERT_EQ(session(create("--id one")).exit_code, 0);
  // The killed program's command ends; the other one goes on.
  const auto said =
      ground().shell(fmt::format("{0} session exec one -- sleep 777 & first=$!; {0} session exec one -- sh -c 'sleep 3; ps | grep -c "
                                 "\"sleep 77[7]\"' > ../scratch/left & second=$!; sleep 1.5; kill -KILL $first; wait $second; cat "
                                 "../scratch/left",
                                 HARN_BINARY));
  EXPECT_EQ(said.out, "0\n") << said.err;
  EXPECT_EQ(session("terminate one").exit_code, 0);
}

TEST_F(ContainerSessions, ARemovedContainerIsNoticed) {
  ASSERT_EQ(session(create("--id lost")).exit_code, 0);
  ground().client("rm --force $(" + ground().engine() + " ps --quiet)");
  EXPECT_NE(session("list").out.find("terminated"), std::string::npos);
  EXPECT_EQ(session("exec lost -- true").exit_code, 125);
  EXPECT_EQ(session("gc").out, "cleared lost\n");
  EXPECT_EQ(session("list").out, "");
}

TEST_F(ContainerSessions, CreatingIsKilled) {
  for (const auto* after : {"0.1", "0.4", "0.9"}) {
    ground().shell(fmt::format("{} session {} & sleep {}; kill -KILL $!; wait", HARN_BINARY, create("--id half"), after));
    ground().shell("sleep 1");
    const auto swept = session("gc");
    EXPECT_EQ(swept.exit_code, 0) << swept.err;
    session("terminate half");  // where it was finished in time
  }
  EXPECT_EQ(session("list").out, "");
}

TEST_F(ContainerSessions, LimitsAreTheContainers) {
  const auto made = session(create("--id small --total-procs 30 --total-memory 64M"));
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const auto told =
      ground().client("inspect --format '{{.HostConfig.PidsLimit}} {{.HostConfig.Memory}}' $(" + ground().engine() + " ps --quiet)");
  EXPECT_EQ(told.out, "30 67108864\n");
  EXPECT_NE(session("exec small -- dd if=/dev/zero of=/dev/null bs=100M count=1").exit_code, 0);
  EXPECT_EQ(session("terminate small").exit_code, 0);
}

TEST_F(ContainerSessions, LifetimesEnd) {
  ASSERT_EQ(session(create("--id brief --lifetime 1s")).exit_code, 0);
  const auto gone = ground().shell(
      fmt::format("for i in $(seq 100); do {0} session list | grep -q terminated && break; sleep 0.1; done; {0} session gc", HARN_BINARY));
  EXPECT_EQ(gone.out, "cleared brief\n");
}

}  // namespace
}  // namespace harn::test
