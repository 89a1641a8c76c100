// SPDX-License-Identifier: Apache-2.0
#include "sys/cgroup_places.h"

#include <gtest/gtest.h>

#include "support/temp_dir.h"

namespace harn::sys {
namespace {

using test::TempDir;

class Host {
 public:
  // Lines of mountinfo and of /proc/self/cgroup; "@" stands for the directory of this test.
  void mounted(std::string_view root, std::string_view point, std::string_view type, std::string_view options) {
    mounts_ += "30 1 0:30 " + std::string(root) + " " + temp.path(point).text() + " rw,relatime shared:9 - " + std::string(type) +
               " x rw," + std::string(options) + "\n";
    temp.file("proc/self/mountinfo", mounts_);
  }
  void member(std::string_view lines) { temp.file("proc/self/cgroup", lines); }
  CgroupPlaces places() const { return find_cgroup_places(temp.path("proc")); }

  TempDir temp = {};

 private:
  std::string mounts_ = "1 0 0:1 / / rw - ext4 /dev/x rw\nnonsense\n";
};

TEST(CgroupPlaces, NothingMountedIsNothingUsable) {
  Host host;
  host.member("0::/\n");
  EXPECT_EQ(host.places(), CgroupPlaces{});
}

TEST(CgroupPlaces, VersionOneNeedsEveryControllerAndARightToWrite) {
  Host host;
  host.mounted("/", "cg/memory", "cgroup", "memory");
  host.mounted("/", "cg/pids", "cgroup", "pids");
  host.mounted("/", "cg/cpu,cpuacct", "cgroup", "cpu,cpuacct");
  host.mounted("/", "cg/systemd", "cgroup", "xattr,name=systemd");
  host.member("9:name=systemd:/\n8:pids:/p\n4:memory:/m/a:b\n2:cpu,cpuacct:/\nnonsense\n");
  host.temp.directory("cg/pids/p");
  host.temp.directory("cg/memory/m/a:b");
  EXPECT_EQ(host.places(), CgroupPlaces{}) << "the cpu hierarchy is not there";
  host.temp.directory("cg/cpu,cpuacct");
  EXPECT_EQ(host.places(), (CgroupPlaces{CgroupKind::v1,
                                         {{"cpu", host.temp.path("cg/cpu,cpuacct")},
                                          {"cpuacct", host.temp.path("cg/cpu,cpuacct")},
                                          {"memory", host.temp.path("cg/memory/m/a:b")},
                                          {"pids", host.temp.path("cg/pids/p")}}}));
}

TEST(CgroupPlaces, AtTheRootOfVersionTwoAGroupIsMadeBelow) {
  Host host;
  host.mounted("/", "cg", "cgroup2", "nsdelegate");
  host.member("0::/\n");
  host.temp.file("cg/cgroup.controllers", "cpu memory\n");
  EXPECT_EQ(host.places(), CgroupPlaces{}) << "without pids";
  host.temp.file("cg/cgroup.controllers", "cpu memory pids\n");
  EXPECT_EQ(host.places(), (CgroupPlaces{CgroupKind::v2, {{"", host.temp.path("cg")}}}));
}

TEST(CgroupPlaces, ElsewhereInVersionTwoAGroupIsMadeBesideTheOwnOne) {
  Host host;
  host.mounted("/", "cg", "cgroup2", "nsdelegate");
  host.member("0::/app.slice/a:b.scope\n");
  host.temp.file("cg/app.slice/a:b.scope/cgroup.controllers", "memory pids\n");
  host.temp.file("cg/app.slice/a:b.scope/cgroup.type", "domain\n");
  host.temp.file("cg/app.slice/cgroup.subtree_control", "memory\n");
  host.temp.file("cg/app.slice/cgroup.procs");
  EXPECT_EQ(host.places(), CgroupPlaces{}) << "the parent keeps pids for itself";
  host.temp.file("cg/app.slice/cgroup.subtree_control", "memory pids\n");
  EXPECT_EQ(host.places(), (CgroupPlaces{CgroupKind::v2, {{"", host.temp.path("cg/app.slice")}}}));
}

TEST(CgroupPlaces, APartOfAHierarchyIsShownWhereItIsMounted) {
  Host host;
  host.mounted("/docker/1", "cg/memory", "cgroup", "memory");
  host.mounted("/docker/2", "other", "cgroup", "pids");
  host.mounted("/", "cg/pids", "cgroup", "pids");
  host.mounted("/..", "cg/cpu", "cgroup", "cpu,cpuacct");
  host.member("3:memory:/docker/1/run\n2:pids:/docker/22\n1:cpu,cpuacct:/../x\n");
  host.temp.directory("cg/memory/run");
  host.temp.directory("cg/pids/docker/22");
  host.temp.directory("other/2");
  EXPECT_EQ(host.places(), CgroupPlaces{}) << "the cpu hierarchy lies outside what is mounted";
  host.mounted("/..", "all", "cgroup", "cpu,cpuacct");
  host.member("3:memory:/docker/1/run\n2:pids:/docker/22\n1:cpu,cpuacct:/\n");
  host.mounted("/", "cg/cpu", "cgroup", "cpu,cpuacct");
  host.temp.directory("cg/cpu");
  EXPECT_EQ(host.places().directories.at("memory"), host.temp.path("cg/memory/run"));
  EXPECT_EQ(host.places().directories.at("pids"), host.temp.path("cg/pids/docker/22"));
}

}  // namespace
}  // namespace harn::sys
