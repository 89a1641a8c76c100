// SPDX-License-Identifier: Apache-2.0
// A private engine, as for tests/containers.
#include "containers/engine_ground.h"
#include "sessions/contract.h"

namespace harn::test {
namespace {

std::map<std::string, std::string> engine_environment() {
  auto out = ground().environment();
  out.erase("HOME");
  out.erase("XDG_STATE_HOME");
  // The engine is tried once for all tests, not once for each.
  const auto facts = ground().root() + "/facts";
  ::mkdir(facts.c_str(), 0700);
  out["XDG_RUNTIME_DIR"] = facts;
  return out;
}

Ground container() {
  return {.name = "Container",
          .backend = std::string(asked_engine()),
          .open = [](Context context) -> SandboxResult<std::unique_ptr<SandboxBackend>> {
            for (const auto& [name, value] : engine_environment()) context.environment.insert_or_assign(name, value);
            const auto engine = asked_engine() == "docker" ? ContainerEngine::docker : ContainerEngine::podman;
            auto opened = ContainerSandbox::open({.context = std::move(context), .engine = engine});
            if (!opened) return std::unexpected(std::move(opened).error());
            return std::make_unique<ContainerSandbox>(std::move(*opened));
          },
          .missing = [] { return missing_engine(); },
          .sleeps_when_idle = false,
          .changes_alive = false,
          .names_hosts = false,
          .network_trial = "wget -q -O /dev/null http://127.0.0.1:1/ 2>&1 | grep -q refused && echo open || echo closed"};
}

INSTANTIATE_TEST_SUITE_P(Backends, Contract, testing::Values(container()), [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace harn::test
