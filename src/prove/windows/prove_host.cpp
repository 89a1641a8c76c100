// SPDX-License-Identifier: Apache-2.0
// What is known about this host before a run, and what 'harn doctor' finds out. A run asks without starting anything, because
// it verifies its own process before the first instruction and refuses then; nothing is remembered, so nothing goes stale.
#include "harn/prove.h"

#include "prove/windows/appcontainer.h"
#include "run/windows/acl_grants.h"
#include "run/windows/os/real_calls.h"

namespace harn {

Status settle_facts(HostFacts& facts, const AbsPath&, Inside) {
  HARN_TRY(journals, run::windows::journal_directory());
  const auto claimed = prove::claims_to_confine(run::windows::real_calls(journals));
  facts.tools["appcontainer"] = {.path = AbsPath::of("C:/Windows/System32/userenv.dll"),
                                 .works = claimed.has_value(),
                                 .why_not = claimed ? std::string() : claimed.error().message};
  return {};
}

Result<ProvedHost> prove_host(const HostFacts& claimed, Inside) {
  HARN_TRY(journals, run::windows::journal_directory());
  const auto calls = run::windows::real_calls(journals);
  ProvedHost out;
  out.findings.push_back(prove::prove_confinement(calls, claimed));
  out.tools["appcontainer"] = {
      .path = AbsPath::of("C:/Windows/System32/userenv.dll"), .works = out.findings.front().works, .why_not = out.findings.front().why_not};
  Finding journal{.mechanism = "journal", .works = true, .how = "nothing of earlier runs is left in access control lists"};
  for (const auto& note : run::windows::recover(calls)) {
    journal = {.mechanism = "journal", .works = false, .why_not = note, .remedy = "look at the paths named there"};
  }
  out.findings.push_back(std::move(journal));
  return out;
}

}  // namespace harn
