// SPDX-License-Identifier: Apache-2.0
// harn inside a container as podman makes it, with podman's own filter: no view can be made there, and every promise of tests/confine
// holds by Landlock and the supervisor. The container has the host's programs, on a layer that is thrown away.
#include <fmt/format.h>

#include "containers/engine_ground.h"

namespace harn::test {
namespace {

TEST_F(Containers, InsideOneEveryPromiseHoldsWithoutAView) {
  if (ground().engine() != "podman" || ground().uid() != 0 || HARN_SANITIZED != 0)
    return;  // one engine shows it; sanitizers make calls of their own
  const auto told = ground().client(fmt::format(
      "run --rm --network none --ulimit nofile=1024:4096 --ulimit nproc=4096:4096 --env HARN_INSIDE_CONTAINER=1 "
      "--env HARN_REQUIRE=landlock,seccomp --rootfs /:O "
      "{} --gtest_brief=1 --gtest_filter='*RefusedWithoutUserNamespaces*:*RefusedOnAnOldKernel*:SupervisedSockets.*-NoNetwork.*'",
      HARN_CONFINE_TEST));
  EXPECT_EQ(told.exit_code, 0) << told.out << told.err;
  EXPECT_NE(told.out.find("PASSED"), std::string::npos) << told.out;
}

}  // namespace
}  // namespace harn::test
