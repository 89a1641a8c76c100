// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "harn/doctor.h"

namespace harn {
namespace {

TEST(Diagnostics, TheFirstBackendThatWorksIsActive) {
  HostFacts facts;
  EXPECT_EQ(sandbox_active_backend(facts), "noop");
  EXPECT_FALSE(sandbox_backend_available(facts));
  facts.tools["firejail"] = {.path = AbsPath::of("/usr/bin/firejail"), .works = true};
  EXPECT_EQ(sandbox_active_backend(facts), "firejail");
  facts.tools["bubblewrap"] = {.path = AbsPath::of("/usr/bin/bwrap"), .works = false};
  EXPECT_EQ(sandbox_active_backend(facts), "firejail");
  facts.linux.landlock_abi = 1;
  EXPECT_EQ(sandbox_active_backend(facts), "linux");
  EXPECT_TRUE(sandbox_backend_available(facts));
}

TEST(Diagnostics, TheProfileIsThePolicysAndUnrestrictedWithoutOne) {
  EXPECT_EQ(sandbox_active_profile(nullptr), "unrestricted");
  const Policy usual;
  EXPECT_EQ(sandbox_active_profile(&usual), "worktree");
  const Policy strict{.sandbox_profile = Profile::os_hardened};
  EXPECT_EQ(sandbox_active_profile(&strict), "os_hardened");
}

}  // namespace
}  // namespace harn
