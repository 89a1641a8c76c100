// SPDX-License-Identifier: Apache-2.0
#include "session/entry.h"

#include <gtest/gtest.h>

#include "support/temp_dir.h"
#include "sys/files.h"

namespace harn::session {
namespace {

using test::TempDir;

Entry full() {
  Entry entry{.id = "a", .backend = "local", .boot_id = "b", .socket = AbsPath::of("/run/s"), .root = AbsPath::of("/w")};
  entry.mounts = {{.target = AbsPath::of("/mnt/memory"), .source = AbsPath::of("/m"), .access = FilesystemAccess::read_write, .own = true}};
  entry.workspace_roots = {AbsPath::of("/w"), AbsPath::of("/v")};
  entry.read_only_roots = {AbsPath::of("/r")};
  entry.env = {.mode = EnvMode::replace,
               .set = {{"A", "1"}, {"B", std::string("x\n\0y", 4)}},
               .remove = {"C"},
               .passthrough = std::set<std::string>{},
               .strip = {"D*"}};
  entry.env_added = {{"HARN_MEMORY_DIR", "/mnt/memory"}};
  entry.blocked_commands = {"rm -rf /"};
  entry.network_closed = true;
  entry.relay_secret = "s";
  entry.arch = "x86_64";
  entry.proofs = {"reads", "signals"};
  entry.plan_digest = "plan-1";
  entry.cgroups = {.kind = CgroupKind::v1, .directories = {{"pids", AbsPath::of("/sys/fs/cgroup/pids/x")}}};
  entry.plan_backend = Backend::linux;
  entry.profile = Profile::worktree;
  entry.limits = {.rlimits = {{.name = "core"}, {.name = "nofile", .soft = 1, .hard = 2}},
                  .cgroup = {{"memory.max", "1"}},
                  .watched = {{"processes", 3}},
                  .wall_time_ms = 4,
                  .max_output_bytes = 5};
  entry.watched_names = {AbsPath::of("/w/.git")};
  return entry;
}

TEST(Entry, ComesBackAsItWas) {
  EXPECT_EQ(unpack(pack(full())), full());
  EXPECT_EQ(unpack(pack(Entry{})), Entry{});
}

TEST(Entry, WhatWasCutOrLengthenedIsNone) {
  const auto bytes = pack(full());
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(unpack(std::string_view(bytes).substr(0, size))) << size;
  EXPECT_FALSE(unpack(bytes + "x"));
}

TEST(Entry, DamagedBytesNeverReachOutside) {
  const auto bytes = pack(full());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    auto damaged = bytes;
    damaged[at] = static_cast<char>(0xff);
    (void)unpack(damaged);  // the sanitizers look
  }
}

TEST(Entry, IsOfOneRecordOnly) {
  const TempDir temp;
  const auto place = temp.path("session");
  ASSERT_TRUE(sys::replace_file(place.join("session.json"), "{}"));
  const auto mark = mark_of(place);
  ASSERT_TRUE(mark);
  EXPECT_FALSE(find_entry(place));
  keep_entry(place, full(), *mark);
  EXPECT_EQ(find_entry(place), full());
  // The same text, but another file.
  ASSERT_TRUE(sys::replace_file(place.join("session.json"), "{}"));
  EXPECT_FALSE(find_entry(place));
  // Whoever read the old record and was late leaves nothing that counts.
  keep_entry(place, full(), *mark);
  EXPECT_FALSE(find_entry(place));
}

TEST(Entry, LongOnesAreReadWhole) {
  const TempDir temp;
  const auto place = temp.path("session");
  ASSERT_TRUE(sys::replace_file(place.join("session.json"), "{}"));
  auto entry = full();
  for (int i = 0; i < 2000; ++i) entry.watched_names.push_back(AbsPath::of("/w/name-" + std::to_string(i)));
  keep_entry(place, entry, *mark_of(place));
  EXPECT_EQ(find_entry(place), entry);
  drop_entry(place);
  EXPECT_FALSE(find_entry(place));
}

}  // namespace
}  // namespace harn::session
