// SPDX-License-Identifier: Apache-2.0
#include "plan/environment.h"

#include <fmt/format.h>

#include "base/text.h"
#include "plan/coverage.h"
#include "policy/env_rules.h"

namespace harn::plan {
namespace {

using Variables = std::map<std::string, std::string>;

// Where letter case does not count, "Path" and "PATH" are one variable and must not get two answers: every name takes the
// spelling in which it came first, the caller's before the policy's.
class Spelling {
 public:
  const std::string& of(const std::string& name) { return spellings_.try_emplace(base::lower_ascii(name), name).first->second; }

  Variables of_all(const Variables& variables) {
    Variables out;
    for (const auto& [name, value] : variables) out.try_emplace(of(name), value);
    return out;
  }
  std::set<std::string> of_all(const std::set<std::string>& names) {
    std::set<std::string> out;
    for (const auto& name : names) out.insert(of(name));
    return out;
  }

 private:
  std::map<std::string, std::string> spellings_ = {};
};

policy::EnvOutcome apply_ignoring_case(EnvRules rules, const Variables& caller) {
  Spelling spelling;
  const auto variables = spelling.of_all(caller);
  rules.set = spelling.of_all(rules.set);
  rules.remove = spelling.of_all(rules.remove);
  if (rules.passthrough) rules.passthrough = spelling.of_all(*rules.passthrough);
  return policy::apply_env_rules(rules, variables);
}

// Programs that ask the network for a newer version of themselves would ask in vain, and npm at every start anew: it cannot
// keep the date of its last question. A third of the time of a small "npm test" goes into that.
void forgo_update_checks(const Policy& policy, Variables& variables) {
  const bool limited = !policy.network || policy.network->mode == NetworkMode::limited;
  if (!limited || policy.env.mode == EnvMode::replace || policy.profile() == Profile::wasi) return;
  for (const auto& [name, value] : {std::pair{"npm_config_update_notifier", "false"}, std::pair{"NO_UPDATE_NOTIFIER", "1"}})
    if (!policy.env.set.contains(name) && !policy.env.remove.contains(name)) variables.try_emplace(name, value);
}

}  // namespace

void plan_environment(const Policy& policy, const Command& command, Plan& plan, Platform platform) {
  auto outcome = platform == Platform::windows ? apply_ignoring_case(policy.env, command.environment)
                                               : policy::apply_env_rules(policy.env, command.environment);
  plan.env.variables = std::move(outcome.variables);
  forgo_update_checks(policy, plan.env.variables);
  plan.env.removed.clear();
  for (auto& gone : outcome.removed) plan.env.removed.push_back({std::move(gone.name), std::move(gone.why)});
  enforced_by(plan.coverage, Dimension::env, "launcher");
}

void point_proxies_at(const Policy& policy, std::uint16_t relay_port, Plan& plan) {
  for (const auto* name : {"HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "FTP_PROXY", "ftp_proxy"})
    if (!policy.env.set.contains(name) && plan.env.variables.erase(name) != 0)
      plan.env.removed.push_back({.name = name, .why = "the network is reached through Harn's relay"});
  for (const auto* name : {"HTTPS_PROXY", "https_proxy"})
    if (!policy.env.set.contains(name)) plan.env.variables[name] = fmt::format("http://127.0.0.1:{}", relay_port);
  for (const auto* name : {"NO_PROXY", "no_proxy"})
    if (!policy.env.set.contains(name)) plan.env.variables[name] = "localhost,127.0.0.1,::1";
}

namespace {

// Names are resolved by the relay: inside nobody can.
constexpr std::pair<const char*, std::string_view> relay_proxies[] = {
    {"HTTPS_PROXY", "http"}, {"https_proxy", "http"}, {"ALL_PROXY", "socks5h"}, {"all_proxy", "socks5h"}};

std::string relay_address(std::string_view scheme, std::string_view user, std::string_view port) {
  return fmt::format("{}://{}127.0.0.1:{}", scheme, user, port);
}

}  // namespace

void point_every_proxy_at_relay(const Policy& policy, Plan& plan) {
  point_proxies_at(policy, 0, plan);
  for (const auto& [name, scheme] : relay_proxies)
    if (!policy.env.set.contains(name)) plan.env.variables[name] = relay_address(scheme, "", relay_port_word);
}

void fill_in_relay(std::string_view user, std::uint16_t port, EnvPlan& env) {
  for (const auto& [name, scheme] : relay_proxies)
    if (const auto found = env.variables.find(name);
        found != env.variables.end() && found->second == relay_address(scheme, "", relay_port_word))
      found->second = relay_address(scheme, user, std::to_string(port));
}

void point_temp_at(const Policy& policy, const std::string& directory, Plan& plan) {
  for (const auto* name : {"TMPDIR", "TMP", "TEMP"})
    if (!policy.env.set.contains(name)) plan.env.variables[name] = directory;
  // zsh prefixes the names of its here-document files with this, so it is no directory.
  if (!policy.env.set.contains("TMPPREFIX")) plan.env.variables["TMPPREFIX"] = directory + "/zsh";
}

}  // namespace harn::plan
