// SPDX-License-Identifier: Apache-2.0
// From a call that failed to a denial: only where the policy refuses it and it would have worked without the
// boundary. Says which rule it was and the smallest flag that opens exactly that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harn/outcome.h"
#include "harn/plan.h"

namespace harn::embed {

class Explainer {
 public:
  Explainer(const Plan& plan, const Policy& policy, const PathRules& rules, const HostFacts& facts);

  // As they come, because what is there now may be gone later.
  void take(const Refused& refused);
  // What one refusal would be told as, and by which kind of rule; nothing where it is none. It is not among the others then.
  struct Judged {
    Denial denial = {};
    Origin origin = Origin::nothing;
  };
  std::optional<Judged> judge(const Refused& refused);
  // A refusal that came to be after all.
  void keep(Denial denial);
  // Also the limits that ended the command. To be called once.
  std::vector<Denial> finish(const Outcome& outcome);

 private:
  void take_path(const Refused& refused, const AbsPath& path);
  void take_address(const Refused& refused);
  void take_call(const Refused& refused);
  void add(const Refused& refused, Denial denial);
  const MountStep* private_place(const AbsPath& path) const;
  Decision decide(const AbsPath& path, const AbsPath& real, FileOp op) const;
  bool can_be_started(const AbsPath& path) const;
  void explain_read(const AbsPath& path, const Decision& decision, Denial& denial) const;
  void explain_change(const Refused& refused, const AbsPath& path, const Decision& decision, Denial& denial) const;

  const Policy& policy_;
  const PathRules& rules_;
  const LinuxConfinement* linux_;
  std::vector<AbsPath> credentials_ = {};
  bool own_network_ = false;
  bool relayed_ = false;  // whoever relays single hosts tells of those
  std::vector<Denial> denials_ = {};
  Origin origin_ = Origin::nothing;  // of the last path that was explained
  std::uint64_t more_ = 0;
};

// A command that could not be started was not seen by anybody: it is looked for where it would be.
void explain_no_start(const Plan& plan, Explainer& explainer, Error& error);

// Whether this plan tells anything at all.
bool explains(const Plan& plan);

}  // namespace harn::embed
