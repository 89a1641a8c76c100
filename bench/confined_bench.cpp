// SPDX-License-Identifier: Apache-2.0
// harn_confined_bench HARN [spawning|rate|sessions|holding|steady]: what confinement costs, as ratios to the same
// work bare.
#include <stdlib.h>

#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "confined.h"

namespace {

constexpr int spawn_rounds = 300;
constexpr int steady_rounds = 21;
constexpr int sandboxes = 1000;

}  // namespace

int main(int argc, char** argv) {
  using namespace harn::bench;
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "--work" && argc == 3) return do_work(argv[2]);
  if (first == "--work-in-two-layers" && argc == 3) return wear_two_layers() ? do_work(argv[2]) : 3;
  if (argc < 2) {
    fmt::print(stderr, "usage: harn_confined_bench HARN [spawning|rate|sessions|holding|steady]\n");
    return 2;
  }
  const std::string harn = std::filesystem::absolute(argv[1]);
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string_view only = argc > 2 ? argv[2] : "";
  const auto wanted = [&](std::string_view part) { return only.empty() || only == part; };
  char name[] = "/var/tmp/harn-bench-XXXXXX";
  if (::mkdtemp(name) == nullptr) return 1;
  std::filesystem::current_path(name);
  const auto workspace = harn::AbsPath::of(name);
  if (wanted("spawning")) bench_spawning(harn, workspace, spawn_rounds);
  if (wanted("sessions")) bench_sessions(harn, workspace, spawn_rounds);
  if (wanted("rate")) bench_rate(workspace);
  if (wanted("holding")) bench_holding(harn, self, workspace, sandboxes);
  if (wanted("steady")) bench_steady_state(harn, self, workspace, steady_rounds);
  std::filesystem::current_path("/");
  std::filesystem::remove_all(name);
  return 0;
}
