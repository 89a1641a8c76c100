// SPDX-License-Identifier: Apache-2.0
// harn_less LAYER run …: `harn run` with one layer (view, landlock, seccomp) taken out of the finished
// plan, and nothing that makes up for it. The suite's only way to weaken a sandbox; nothing like it is
// in the product.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "cli/prepare.h"
#include "cli/verbs.h"
#include "harn/sandbox.h"

namespace harn::cli {
namespace {

// The rules for private places name what only the view makes; on the host they would mean its own.
void take_out_view(LinuxConfinement& linux) {
  linux.view.reset();
  if (linux.landlock)
    std::erase_if(linux.landlock->rules, [](const LandlockRule& rule) { return rule.note == "private" || rule.note == "the view itself"; });
}

void take_out(const std::string& layer, Plan& plan) {
  auto* linux = std::get_if<LinuxConfinement>(&plan.confinement);
  if (linux == nullptr) return;
  if (layer == "view") take_out_view(*linux);
  if (layer == "landlock") linux->landlock.reset();
  if (layer == "seccomp") linux->syscalls.reset();
}

Result<int> run_less(const std::string& layer, const Caller& caller) {
  const auto* verb = find_verb(caller.words);
  HARN_TRY(arguments, parse_arguments(*verb, std::span(caller.words).subspan(1)));
  HARN_TRY(prepared, prepare(arguments, caller));
  HARN_TRY(plan, make_plan(prepared.policy, prepared.command, prepared.facts, prepared.options));
  // What is proved before the command starts would notice, and that is not what is tested here.
  plan.coverage = {};
  take_out(layer, plan);
  HARN_TRY(outcome, run_plan(plan, {.whole_process = true}));
  if (const auto* file = arguments.value("receipt")) std::ofstream(*file) << receipt_to_json(outcome.receipt);
  return outcome.exit_code;
}

}  // namespace
}  // namespace harn::cli

int main(int argc, char** argv, char** environment) {
  if (argc < 3) return 2;
  harn::cli::Caller caller;
  caller.words.assign(argv + 2, argv + argc);
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    caller.environment[std::string(entry.substr(0, entry.find('=')))] = entry.substr(entry.find('=') + 1);
  }
  char cwd[4096];
  if (::getcwd(cwd, sizeof cwd) == nullptr) return 2;
  caller.cwd = harn::AbsPath::of(cwd);
  const auto code = harn::cli::run_less(argv[1], caller);
  if (code) return *code;
  std::fprintf(stderr, "harn_less: %s\n", code.error().message.c_str());
  return 125;
}
