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
  bool left = false;  // before an inner one: the inner one takes it along when it leaves
  std::shared_ptr<Level> outer = {};
};

namespace {

Intersection under(const Policy& ceiling, Policy policy) {
  if (!policy.workspace_roots) policy.workspace_roots = ceiling.workspace_roots;
  return intersect(ceiling, policy);
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
    composed = under(ceiling, std::move(composed.policy));
    // Who was not allowed to weaken the profile cannot allow it to others.
    level->allow_demotion = options.allow_demotion && level->outer->allow_demotion;
  }
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

Policy within_scope(const Policy& policy) {
  const auto around = PolicyScope::current();
  return around ? under(*around, policy).policy : policy;
}

Result<Policy> policy_for_call(const Policy& policy, std::optional<Profile> profile, const Limits& limits) {
  auto out = within_scope(policy);
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
