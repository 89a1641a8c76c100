// SPDX-License-Identifier: Apache-2.0
// A policy for the work inside a block of code, for hosts that hand work on: to tools, to sub-agents.
//
//   HARN_TRY(scope, PolicyScope::enter(policy));
//   …                                              // every Sandbox and FileScope used in here obeys it
//   HARN_TRY(inner, PolicyScope::enter(narrower, {.sub_agent = true}));
//
// Nested scopes intersect, leaving restores. A scope belongs to the thread that entered it; a host that
// moves work between threads enters it there again with `PolicyScope::current()`.
#pragma once

#include <memory>
#include <optional>

#include "harn/policy.h"

namespace harn {

struct ScopeOptions {
  // One call inside may ask for a weaker profile than the scope's. Only the operator's code says so; no
  // file and no policy can.
  bool allow_demotion = false;
  // The work is another agent's: it has one less of the recursion_limit.
  bool sub_agent = false;
};

class PolicyScope {
 public:
  // At most what the surrounding scope allows. A member that is unset leaves what is around as it is; an
  // empty list takes it away. Links in its paths are resolved already (resolve_policy_paths).
  static Result<PolicyScope> enter(Policy policy, ScopeOptions options = {});
  PolicyScope(PolicyScope&&) noexcept = default;
  PolicyScope& operator=(PolicyScope&&) = delete;
  PolicyScope(const PolicyScope&) = delete;
  PolicyScope& operator=(const PolicyScope&) = delete;
  ~PolicyScope();

  const Policy& policy() const;        // as composed
  const Narrowing& narrowing() const;  // what the surrounding scope took from what was asked for

  // Of this thread; null outside every scope. The pointer keeps its policy alive.
  static std::shared_ptr<const Policy> current();

 private:
  struct Level;
  explicit PolicyScope(std::shared_ptr<Level> level);
  static std::shared_ptr<Level>& innermost();
  friend Result<Policy> within_scope(const Policy& policy);
  friend Result<Policy> policy_for_call(const Policy& policy, std::optional<Profile> profile, const Limits& limits);

  std::shared_ptr<Level> level_;
};

// What the scope around leaves of the policy, which is never more; itself outside every scope. An error when
// there are more sub-agents on the way than its recursion_limit allows.
Result<Policy> within_scope(const Policy& policy);

// The policy of one call that asks for a profile and limits of its own, inside the scope around. A
// stricter profile always counts, a weaker one is refused unless the scope allows it; limits only shrink.
Result<Policy> policy_for_call(const Policy& policy, std::optional<Profile> profile, const Limits& limits = {});

}  // namespace harn
