// SPDX-License-Identifier: Apache-2.0
#include "sessions/contract.h"

namespace harn::test {
namespace {

constexpr auto reaches_out =
    "python3 -c \"\nimport socket\ntry:\n  socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n  print('open')\nexcept OSError:\n  "
    "print('closed')\n\"";

SandboxResult<std::unique_ptr<SandboxBackend>> open_local(Context context, Profile profile) {
  auto opened = LocalSandbox::open({.context = std::move(context), .sandbox_profile = profile});
  if (!opened) return std::unexpected(std::move(opened).error());
  return std::make_unique<LocalSandbox>(std::move(*opened));
}

const Ground local{.name = "Local",
                   .open = [](Context context) { return open_local(std::move(context), Profile::os_hardened); },
                   .network_trial = reaches_out};

// Without a view the strictest profile refuses what Landlock cannot close.
const Ground without_user_namespaces{.name = "LocalWithoutUserNamespaces",
                                     .environment = {{"HARN_PRETEND", "userns=no"}},
                                     .open = [](Context context) { return open_local(std::move(context), Profile::worktree); },
                                     .guest_paths = false,
                                     .sleeps_when_idle = false,
                                     .network_trial = reaches_out};

INSTANTIATE_TEST_SUITE_P(Backends, Contract, testing::Values(local, without_user_namespaces),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace harn::test
