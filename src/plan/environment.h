// SPDX-License-Identifier: Apache-2.0
// The environment of the command: the policy's rules, then variables that must point somewhere that
// works inside (temp and cache directories).
#pragma once

#include "harn/plan.h"

namespace harn::plan {

// Fills plan.env and the dimension env. On Windows the letter case of names does not count.
void plan_environment(const Policy& policy, const Command& command, Plan& plan, Platform platform = Platform::linux);

// For programs that prefer a proxy; all others reach the same relay without knowing it. Proxies of the host
// cannot be reached from inside.
void point_proxies_at(const Policy& policy, std::uint16_t relay_port, Plan& plan);

// The same where there is no other way to the relay than a proxy, whose port is only known when the command runs.
inline constexpr std::string_view relay_port_word = "@run:relay_port";
void point_every_proxy_at_relay(const Policy& policy, Plan& plan);
// Only where that is exactly what stands there: what a person wrote stays as it is, whatever words are in it. `user` is whoever may
// ask the relay, "name:password@".
void fill_in_relay(std::string_view user, std::uint16_t port, EnvPlan& env);

// Points TMPDIR, TMP, TEMP, TMPPREFIX at `directory`, unless the policy's env.set names them.
void point_temp_at(const Policy& policy, const std::string& directory, Plan& plan);

}  // namespace harn::plan
