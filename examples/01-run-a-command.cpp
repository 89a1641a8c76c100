// SPDX-License-Identifier: Apache-2.0
// A policy is opened once on this host; commands run in it, and say how they ended and what was enforced.
#include <cstdio>
#include <cstdlib>

#include "harn/embed.h"
#include "harn/policy_text.h"

using namespace std::chrono_literals;

namespace {

int problem(const harn::Error& error) {
  std::fprintf(stderr, "%s\n", harn::describe(error).c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv, char** variables) {
  // The library reads neither the environment nor the working directory by itself.
  const auto directory = harn::AbsPath::parse(argc > 1 ? argv[1] : "");
  if (!directory) return std::fprintf(stderr, "usage: %s DIRECTORY (absolute): where the command works\n", argv[0]), 2;
  harn::Context context{.cwd = *directory};
  for (; *variables != nullptr; ++variables) {
    const std::string entry = *variables;
    const auto equals = entry.find('=');
    if (equals != std::string::npos) context.environment.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  auto policy = harn::parse_policy_toml("[limits]\nmax_memory_mb = 256\n", {.home = context.cwd});
  if (!policy) return problem(policy.error());
  auto sandbox = harn::Sandbox::open(std::move(*policy), std::move(context));
  if (!sandbox) return problem(sandbox.error());

  const auto outcome = sandbox->run({.argv = {"sh", "-c", "echo made > here; cat here; touch /etc/x; exit 3"}}, {.wall_time = 10s});
  if (!outcome) return problem(outcome.error());
  std::printf("exit %d, said %s", outcome->exit_code, outcome->captured_stdout->c_str());
  std::printf("backend %s, %zu gaps named\n", outcome->receipt.backend.c_str(), outcome->receipt.gaps.size());
  return outcome->exit_code == 3 ? 0 : 1;
}
