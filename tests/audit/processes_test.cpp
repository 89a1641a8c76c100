// SPDX-License-Identifier: Apache-2.0
// Many processes write one chain, and however they end it stays one.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "harn/audit.h"
#include "support/temp_dir.h"

namespace harn::test {
namespace {

pid_t start_writer(const AbsPath& directory, const std::string& count, const char* mode = "process", const char* rotate = "8388608") {
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl(HARN_AUDIT_WRITER, HARN_AUDIT_WRITER, directory.text().c_str(), count.c_str(), mode, rotate, nullptr);
    ::_exit(98);
  }
  return child;
}

int status_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

void expect_intact(const AbsPath& directory, std::uint64_t least) {
  const auto report = verify_audit_log(directory);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->problem, "") << report->where;
  EXPECT_GE(report->events, least);
}

void write_together(int processes, int count, const char* mode, const char* rotate, const AbsPath& directory) {
  std::vector<pid_t> writers;
  for (int i = 0; i < processes; ++i) writers.push_back(start_writer(directory, std::to_string(count), mode, rotate));
  for (const auto writer : writers) EXPECT_EQ(status_of(writer), 0);
}

TEST(AuditProcesses, SixteenWriteAThousandEventsEach) {
  const TempDir temp;
  write_together(16, 1000, "process", "8388608", temp.path("audit"));
  const auto report = verify_audit_log(temp.path("audit"));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->problem, "") << report->where;
  EXPECT_EQ(report->events, 16u * (1000u + 334u));  // every third append has two
  EXPECT_TRUE(report->repairs.empty());
}

TEST(AuditProcesses, SomeWaitForTheDiskAndFilesAreRotatedMeanwhile) {
  const TempDir temp;
  write_together(4, 60, "power", "100000", temp.path("audit"));
  expect_intact(temp.path("audit"), 4 * 80);
  EXPECT_GT(std::distance(std::filesystem::directory_iterator(temp.path("audit").text()), {}), 4);
}

// Two at a time, killed after a moment that is never the same.
void kill_often(const char* rotate, int rounds, bool removes) {
  const TempDir temp;
  const auto directory = temp.path("audit");
  std::mt19937 random(7);
  for (int i = 0; i < rounds; i += 2) {
    const pid_t writers[] = {start_writer(directory, "0", "process", rotate), start_writer(directory, "0", "process", rotate)};
    for (const auto writer : writers) {
      std::this_thread::sleep_for(std::chrono::microseconds(1000 + random() % 20000));
      ::kill(writer, SIGKILL);
      EXPECT_EQ(WTERMSIG(status_of(writer)), SIGKILL);
    }
    if (i % 50 == 0) expect_intact(directory, 0);
  }
  // Enough that the oldest go, where they are to go at all.
  ASSERT_EQ(status_of(start_writer(directory, "1000", "process", rotate)), 0);
  const auto report = verify_audit_log(directory);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->problem, "") << report->where;
  EXPECT_FALSE(report->interrupted);
  EXPECT_TRUE(removes || !report->repairs.empty());  // they may be what was removed
  EXPECT_EQ(report->removed_by_retention != 0, removes);
  for (const auto& repair : report->repairs) EXPECT_NE(repair.data.find("\"reason\":\"interrupted\""), std::string::npos) << repair.data;
}

TEST(AuditProcesses, TwoHundredDeathsLeaveAnIntactLogWithItsRepairs) { kill_often("1000000000000", 200, false); }

TEST(AuditProcesses, AlsoWhileFilesAreRotatedAndRemoved) { kill_often("20000", 60, true); }

// A lock belongs to the open file, which children share with their parent.
TEST(AuditProcesses, ChildrenOfOneProgramTakeTurnsToo) {
  const TempDir temp;
  const auto log = AuditLog::open({.directory = temp.path("audit"), .session_id = "run-1"});
  const AuditEvent event[] = {{.type = AuditEventType::exec_started}};
  ASSERT_TRUE(log->append(event));
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    for (int round = 0; round < 200; ++round)
      if (!log->append(event)) ::_exit(1);
    ::_exit(0);
  }
  for (const auto child : children) EXPECT_EQ(status_of(child), 0);
  const auto report = *verify_audit_log(temp.path("audit"));
  EXPECT_EQ(report.problem, "");
  EXPECT_EQ(report.events, 801u);
  EXPECT_TRUE(report.repairs.empty());
}

}  // namespace
}  // namespace harn::test
