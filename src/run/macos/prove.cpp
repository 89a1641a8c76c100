// SPDX-License-Identifier: Apache-2.0
#include "run/unix/prove_system.h"

#include <fmt/format.h>

#include "harn/sandbox.h"
#include "plan/macos/sbpl_text.h"
#include "run/macos/sandbox_exec.h"
#include "sys/files.h"
#include "sys/own_directory.h"

namespace harn::run {
namespace {

using plan::SbplMatch;

// Everything may be read but one directory: a profile that is not applied at all shows as well as one that is.
std::string reading_profile(const Ground& ground) {
  const std::vector<plan::SbplRule> rules = {
      {.allow = true,
       .operations = {"process*", "sysctl-read", "mach-lookup", "file-read*", "file-map-executable"},
       .filters = {},
       .why = "a shell"},
      {.allow = true, .operations = {"file-write*"}, .filters = {{SbplMatch::literal, "/dev/null"}}, .why = "its redirections"},
      {.allow = false,
       .operations = {"file-read*"},
       .filters = {{SbplMatch::subpath, ground.outside.text()}},
       .why = "what must be refused"},
  };
  return plan::sbpl_text(rules);
}

}  // namespace

Result<std::vector<Finding>> prove_system(HostFacts& facts) {
  HARN_TRY(place, sys::OwnDirectory::make(facts.temp, "harn-prove-"));
  const Ground ground{.inside = place.path().join("inside"), .outside = place.path().join("outside")};
  HARN_OK(sys::replace_file(ground.inside.join("known"), "known\n"));
  HARN_OK(sys::replace_file(ground.outside.join("secret"), "secret\n"));
  Plan plan;
  plan.backend = Backend::macos;
  plan.argv = reading_words(ground);
  plan.cwd = ground.inside;
  Wrapper wrapper{.argv = {sandbox_exec_program(), "-p", reading_profile(ground), "--"}, .profile = reading_profile(ground)};
  wrapper.argv.insert(wrapper.argv.end(), plan.argv.begin(), plan.argv.end());
  plan.confinement = std::move(wrapper);
  const auto program = AbsPath::of(sandbox_exec_program());
  Result<Outcome> ended = fail(Error{.code = ErrorCode::not_available, .message = fmt::format("there is no {}", program.text())});
  if (sys::is_executable(program)) ended = run_plan(plan, {.streams = {Stream::empty, Stream::capture, Stream::capture}, .receipt = false});
  auto finding = reading_finding("sandbox-exec", ended, "a shell inside read one file and was refused the other");
  facts.tools["sandbox-exec"] = Tool{.path = program, .works = finding.works, .why_not = finding.why_not};
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace harn::run
