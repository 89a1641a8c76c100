// SPDX-License-Identifier: Apache-2.0
#include "sys/mount_table.h"

#include <gtest/gtest.h>

namespace harn::sys {
namespace {

TEST(MountTable, ReadsEveryLineThatIsOne) {
  const auto mounts = parse_mounts(
      "22 1 254:0 / / rw - ext4 /dev/vda rw\n23 22 0:5 / /dev rw shared:2 master:1 - devtmpfs dev rw,size=4\n"
      "24 22 0:9 /part\\040of /with\\040a\\134space rw - tmpfs t rw\nshort line\n");
  ASSERT_EQ(mounts.size(), 3u);
  EXPECT_EQ(mounts[0].point, "/");
  EXPECT_EQ(mounts[1].device, "0:5");
  EXPECT_EQ(mounts[1].type, "devtmpfs");
  EXPECT_EQ(mounts[2].point, "/with a\\space");
}

}  // namespace
}  // namespace harn::sys
