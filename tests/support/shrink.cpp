// SPDX-License-Identifier: Apache-2.0
#include "support/shrink.h"

namespace harn::test {
namespace {

// Every policy that differs from this one by having one thing less.
std::vector<Policy> smaller(const Policy& policy) {
  std::vector<Policy> out;
  const auto without = [&](auto edit) {
    Policy next = policy;
    edit(next);
    if (!(next == policy)) out.push_back(std::move(next));
  };
  without([](Policy& p) { p.limits = {}; });
  without([](Policy& p) { p.env = {}; });
  without([](Policy& p) { p.network.reset(); });
  without([](Policy& p) { p.capabilities.reset(); });
  without([](Policy& p) { p.sandbox_profile.reset(); });
  without([](Policy& p) { p.network.reset(), p.side_effect_level.reset(); });
  without([](Policy& p) { p.blocked_commands.clear(); });
  without([](Policy& p) { p.recursion_limit.reset(); });
  without([](Policy& p) { p.process_sandbox.presets = std::set<Preset>{}; });
  without([](Policy& p) { p.process_sandbox.package_tokens.reset(); });
  without([](Policy& p) { p.process_sandbox.unix_sockets.reset(); });
  without([](Policy& p) { p.process_sandbox.credentials.reset(); });
  // Null where the list is unset.
  using List = std::vector<AbsPath>* (*)(Policy&);
  static constexpr auto given = [](std::optional<std::vector<AbsPath>>& list) { return list ? &*list : nullptr; };
  static constexpr List lists[] = {[](Policy& p) { return given(p.workspace_roots); },
                                   [](Policy& p) { return given(p.read_only_roots); },
                                   [](Policy& p) { return given(p.unprotect); },
                                   [](Policy& p) { return given(p.process_sandbox.read_roots); },
                                   [](Policy& p) { return given(p.process_sandbox.write_roots); },
                                   [](Policy& p) { return &p.process_sandbox.read_deny_roots; }};
  for (const auto list : lists) {
    Policy copy = policy;
    const auto* entries = list(copy);
    for (std::size_t i = 0; entries != nullptr && i < entries->size(); ++i)
      without([&](Policy& p) { list(p)->erase(list(p)->begin() + static_cast<std::ptrdiff_t>(i)); });
  }
  return out;
}

}  // namespace

Policy shrink(Policy policy, const std::function<bool(const Policy&)>& still_fails) {
  for (bool smaller_found = true; smaller_found;) {
    smaller_found = false;
    for (auto& candidate : smaller(policy)) {
      if (!still_fails(candidate)) continue;
      policy = std::move(candidate);
      smaller_found = true;
      break;
    }
  }
  return policy;
}

}  // namespace harn::test
