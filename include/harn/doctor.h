// SPDX-License-Identifier: Apache-2.0
// Does the boundary hold? A suite of attacks runs inside a policy's own sandbox, each beside a control
// run without one and beside something harmless that must stay possible.
//
//   HARN_TRY(report, measure_sandbox({.policy = policy, .facts = facts, .attacker = path_of_harn, …}));
//   if (!report.holds()) …
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harn/plan.h"

namespace harn {

enum class Verdict : std::uint8_t {
  conforms,      // refused inside, possible outside; or possible because the policy allows it
  escaped,       // it worked inside, and the plan claims that it cannot
  overrefused,   // something the policy allows does not work inside
  not_measured,  // it does not work outside either, so its failure inside says nothing
  not_enforced,  // it worked inside, and the plan says so
  probe_broken,  // the attack itself failed to run
};

struct Measurement {
  std::string attack = {};
  std::optional<Dimension> dimension = {};  // unset: what every confined command loses
  Verdict verdict = Verdict::probe_broken;
  std::string promise = {};  // "a file outside cannot be read"
  std::string control = {};  // what happened without a sandbox
  std::string confined = {};
  std::string twin = {};    // the harmless neighbour, and how it went
  std::string excuse = {};  // the gap that names it, with not_enforced

  bool operator==(const Measurement&) const = default;
};

struct SandboxReport {
  Plan plan = {};
  std::vector<Measurement> measurements = {};

  bool holds() const;  // nothing escaped, was overrefused, or is broken
};

struct SuiteRequest {
  Policy policy = {};
  HostFacts facts = {};
  PlanOptions options = {};
  std::optional<AbsPath> attacker = {};  // a program that hands its words after "probe" to attack(); unset = this one
  std::vector<AbsPath> outside = {};     // directories to put targets in; the first the policy keeps closed is taken
  std::map<std::string, std::string> environment = {};
  std::string image = Command().image;  // containers only
};

// An error means that the sandbox could not be measured at all, a refusal of the plan included.
Result<SandboxReport> measure_sandbox(const SuiteRequest& request);

// One attack, from inside. Answers the exit code and prints one line.
struct AttackReply {
  int exit_code = 0;
  std::string line = {};
};
AttackReply attack(std::span<const std::string> words, const std::map<std::string, std::string>& environment);

std::string report_to_json(const SandboxReport& report, int indent = 2);

// ---- for embedders' diagnostics ---------------------------------------------------------------------

// The backend a default policy would get on this host: "linux", "bubblewrap", …, "noop" for none.
std::string sandbox_active_backend(const HostFacts& facts);
// Whether there is one that was proved to confine.
bool sandbox_backend_available(const HostFacts& facts);
// "unrestricted" where no policy is active.
std::string sandbox_active_profile(const Policy* policy);

}  // namespace harn
