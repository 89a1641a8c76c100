// SPDX-License-Identifier: Apache-2.0
#include "sys/landlock.h"

#include <linux/landlock.h>

#include <gtest/gtest.h>

#include "sys/uapi/landlock.h"

namespace harn::sys {
namespace {

// Where the distribution's header knows a constant, ours must be the same number.
static_assert(uapi::landlock_fs_execute == LANDLOCK_ACCESS_FS_EXECUTE);
static_assert(uapi::landlock_fs_write_file == LANDLOCK_ACCESS_FS_WRITE_FILE);
static_assert(uapi::landlock_fs_read_file == LANDLOCK_ACCESS_FS_READ_FILE);
static_assert(uapi::landlock_fs_read_dir == LANDLOCK_ACCESS_FS_READ_DIR);
static_assert(uapi::landlock_fs_remove_dir == LANDLOCK_ACCESS_FS_REMOVE_DIR);
static_assert(uapi::landlock_fs_remove_file == LANDLOCK_ACCESS_FS_REMOVE_FILE);
static_assert(uapi::landlock_fs_make_char == LANDLOCK_ACCESS_FS_MAKE_CHAR);
static_assert(uapi::landlock_fs_make_dir == LANDLOCK_ACCESS_FS_MAKE_DIR);
static_assert(uapi::landlock_fs_make_reg == LANDLOCK_ACCESS_FS_MAKE_REG);
static_assert(uapi::landlock_fs_make_sock == LANDLOCK_ACCESS_FS_MAKE_SOCK);
static_assert(uapi::landlock_fs_make_fifo == LANDLOCK_ACCESS_FS_MAKE_FIFO);
static_assert(uapi::landlock_fs_make_block == LANDLOCK_ACCESS_FS_MAKE_BLOCK);
static_assert(uapi::landlock_fs_make_sym == LANDLOCK_ACCESS_FS_MAKE_SYM);
static_assert(uapi::landlock_rule_path_beneath == LANDLOCK_RULE_PATH_BENEATH);
static_assert(uapi::landlock_create_ruleset_version == LANDLOCK_CREATE_RULESET_VERSION);
static_assert(sizeof(uapi::LandlockPathBeneathAttr) == sizeof(landlock_path_beneath_attr));
static_assert(sizeof(uapi::LandlockRulesetAttr) == 24);

TEST(Landlock, TheKernelAnswersWithAPlausibleAbi) {
  const int abi = landlock_abi();
  EXPECT_GE(abi, 0);
  EXPECT_LT(abi, 100);
  EXPECT_EQ(landlock_abi(), abi);
}

}  // namespace
}  // namespace harn::sys
