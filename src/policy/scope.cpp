// SPDX-License-Identifier: Apache-2.0
#include "harn/scope.h"

#include <utility>

#include <fmt/format.h>

#include "base/enum_names.h"
#include "policy/names.h"

namespace harn {

struct PolicyScope::Level {
  std::shared_ptr<const Policy> policy = {};
  Narrowing narrowing = {};
  bool allow_demotion = false;
  std::uint32_t sub_agents = 0;  // on the way from the outermost scope
  bool left = false;             // before an inner one: the inner one takes it along when it leaves
  std::shared_ptr<Level> outer = {};
};

namespace {

template <class Member>
void take_over(std::optional<Member>& mine, const std::optional<Member>& theirs) {
  if (!mine) mine = theirs;
}

// A scope that says nothing about a member leaves it as it is.
Policy filled_from(Policy policy, const Policy& other) {
  take_over(policy.sandbox_profile, other.sandbox_profile);
  take_over(policy.side_effect_level, other.side_effect_level);
  take_over(policy.capabilities, other.capabilities);
  take_over(policy.workspace_roots, other.workspace_roots);
  take_over(policy.read_only_roots, other.read_only_roots);
  take_over(policy.unprotect, other.unprotect);
  take_over(policy.network, other.network);
  take_over(policy.recursion_limit, other.recursion_limit);
  take_over(policy.env.mode, other.env.mode);
  take_over(policy.env.passthrough, other.env.passthrough);
  auto& mine = policy.process_sandbox;
  const auto& theirs = other.process_sandbox;
  // Whether presets were named goes with the presets.
  if (!mine.presets && !mine.package_tokens) mine.package_tokens = theirs.package_tokens;
  take_over(mine.presets, theirs.presets);
  take_over(mine.read_roots, theirs.read_roots);
  take_over(mine.write_roots, theirs.write_roots);
  take_over(mine.unix_sockets, theirs.unix_sockets);
  take_over(mine.credentials, theirs.credentials);
  return policy;
}

// Of two scopes, each of which only takes away.
Intersection under(const Policy& ceiling, const Policy& policy) {
  return intersect(filled_from(ceiling, policy), filled_from(policy, ceiling));
}

}  // namespace

std::shared_ptr<PolicyScope::Level>& PolicyScope::innermost() {
  static thread_local std::shared_ptr<Level> level;
  return level;
}

PolicyScope::PolicyScope(std::shared_ptr<Level> level) : level_(std::move(level)) {}

Result<PolicyScope> PolicyScope::enter(Policy policy, ScopeOptions options) {
  HARN_OK(validate(policy));
  auto level = std::make_shared<Level>();
  level->outer = innermost();
  level->allow_demotion = options.allow_demotion;
  Intersection composed{.policy = std::move(policy)};
  if (level->outer) {
    auto ceiling = *level->outer->policy;
    if (options.sub_agent) {
      HARN_TRY(nested, for_nested_run(std::move(ceiling)));
      ceiling = std::move(nested);
    }
    composed = under(ceiling, composed.policy);
    // Who was not allowed to weaken the profile cannot allow it to others.
    level->allow_demotion = options.allow_demotion && level->outer->allow_demotion;
    level->sub_agents = level->outer->sub_agents;
  }
  if (options.sub_agent) ++level->sub_agents;
  level->policy = std::make_shared<const Policy>(std::move(composed.policy));
  level->narrowing = std::move(composed.narrowing);
  innermost() = level;
  return PolicyScope(std::move(level));
}

PolicyScope::~PolicyScope() {
  if (!level_) return;
  level_->left = true;
  auto& inner = innermost();
  while (inner && inner->left) inner = inner->outer;
}

const Policy& PolicyScope::policy() const { return *level_->policy; }
const Narrowing& PolicyScope::narrowing() const { return level_->narrowing; }

std::shared_ptr<const Policy> PolicyScope::current() {
  const auto& level = innermost();
  return level ? level->policy : nullptr;
}

// Only the scope's unset members are filled: what the policy does not mention has its own meaning, and a
// scope that names it must not give it another.
Result<Policy> within_scope(const Policy& policy) {
  const auto& level = PolicyScope::innermost();
  if (!level) return policy;
  auto narrowed = policy;
  for (std::uint32_t i = 0; i < level->sub_agents; ++i) {
    HARN_TRY(nested, for_nested_run(std::move(narrowed)));
    narrowed = std::move(nested);
  }
  auto out = intersect(filled_from(*level->policy, narrowed), narrowed).policy;
  out.env.set = narrowed.env.set;  // a variable is given, not taken away
  return out;
}

Result<Policy> policy_for_call(const Policy& policy, std::optional<Profile> profile, const Limits& limits) {
  HARN_TRY(out, within_scope(policy));
  const auto& level = PolicyScope::innermost();
  if (profile && *profile < out.profile() && !(level && level->allow_demotion))
    return fail(Error{.code = ErrorCode::refused,
                      .stage = Stage::compose,
                      .message = fmt::format("the call asks for the profile '{}', weaker than '{}' around it", base::enum_name(*profile),
                                             base::enum_name(out.profile())),
                      .hint = "leave sandbox_profile out of the call, or let the operator allow demotion"});
  if (profile) out.sandbox_profile = profile;
  Policy asked = out;
  asked.limits = limits;
  out.limits = intersect(out, asked).policy.limits;
  return out;
}

}  // namespace harn
