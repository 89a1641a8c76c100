// SPDX-License-Identifier: Apache-2.0
// harn/prove.h where there is neither Linux nor Windows. One try takes a few milliseconds, so that nothing is remembered.
#include <fmt/format.h>

#include "base/text.h"
#include "harn/sandbox.h"
#include "run/unix/prove_system.h"
#include "sys/own_directory.h"

namespace harn {

Result<ProvedHost> prove_host(const HostFacts& claimed, Inside) {
  auto facts = claimed;
  HARN_TRY(findings, run::prove_system(facts));
  return ProvedHost{.linux = {}, .tools = std::move(facts.tools), .findings = std::move(findings)};
}

Status settle_facts(HostFacts& facts, const AbsPath&, Inside inside) {
  HARN_TRY(proved, prove_host(facts, inside));
  facts.tools = std::move(proved.tools);
  return {};
}

AbsPath facts_directory(const std::optional<AbsPath>&, const AbsPath& state) { return state; }

void remember_facts(const HostFacts&, const ProvedHost&, const AbsPath&) {}

Status settle_engine(HostFacts&, const EngineRequest&, const AbsPath&) {
  return fail(Error{.code = ErrorCode::not_available,
                    .stage = Stage::prepare,
                    .message = "containers are run on Linux only",
                    .hint = "leave --backend and --sandbox docker out"});
}

void settle_wasi(HostFacts&, const std::string&, const AbsPath&) {}

namespace run {

std::vector<std::string> reading_words(const Ground& ground) {
  const auto script =
      fmt::format("read a <{} || exit 10; if read b <{}; then exit 11; fi; exit 0", base::shell_word(ground.inside.join("known").text()),
                  base::shell_word(ground.outside.join("secret").text()));
  return {"/bin/sh", "-c", script};
}

Finding reading_finding(std::string mechanism, const Result<Outcome>& ended, std::string seen) {
  Finding out{.mechanism = std::move(mechanism)};
  if (!ended) out.why_not = ended.error().message;
  else if (ended->exit_code == 11) out.why_not = "a file that was not opened could be read";
  else if (ended->exit_code == 10) out.why_not = "a file that was opened could not be read";
  else if (ended->exit_code != 0) out.why_not = fmt::format("the child ended with {}", ended->exit_code);
  out.works = out.why_not.empty();
  if (out.works) out.how = std::move(seen);
  return out;
}

}  // namespace run
}  // namespace harn
