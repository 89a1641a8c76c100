// SPDX-License-Identifier: Apache-2.0
#include "run/late_attributes.h"

#include <gtest/gtest.h>

namespace harn::run {
namespace {

TEST(LateAttributes, ReadsMountPoints) {
  EXPECT_EQ(mount_points_in("22 1 254:0 / / rw - ext4 /dev/vda rw\n23 22 0:5 / /dev rw - devtmpfs dev rw\n"
                            "24 22 0:9 / /with\\040a\\134space rw - tmpfs t rw\nshort line\n"),
            (std::vector<std::string>{"/", "/dev", "/with a\\space"}));
}

}  // namespace
}  // namespace harn::run
