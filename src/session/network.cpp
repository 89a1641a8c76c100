// SPDX-License-Identifier: Apache-2.0
#include "session/network.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "harn/embed.h"
#include "harn/policy_text.h"
#include "plan/environment.h"
#include "policy/hosts.h"
#include "run/kept.h"
#include "session/errors.h"
#include "session/exec.h"
#include "session/life.h"
#include "session/mounts.h"
#include "sys/files.h"
#include "sys/random_number.h"

namespace harn::session {
namespace {

constexpr std::string_view control_prefix = "relay-";
constexpr std::size_t most_names = 100'000;

// Commands that have the host's network keep it as long as they run.
SandboxResult<void> check_nobody_keeps_it(const Places& places, const Record& record) {
  std::uint64_t running = 0;
  if (record.kept) {
    const auto state = run::ask_keeper(record.socket, run::keeper::Kind::state);
    if (!state) return std::unexpected(from(state.error(), Kind::network_policy));
    running = std::uint64_t{state->execs} + state->others;
  } else if (is_busy(places, record)) {
    running = 1;
  }
  if (running == 0) return {};
  return fail_with(Kind::network_policy,
                   record.kept ? fmt::format("{} process(es) of the session run and would keep the network", running)
                               : "commands of the session run and would keep the network",
                   "wait until they have ended, or end them");
}

SandboxResult<void> check_possible(const Places& places, const Record& record, const NetworkPolicy& asked) {
  if (record.contained())
    return unsupported(record.backend, "changing the network of a container that exists", "create another session with this network");
  if (asked.unrestricted && !record.provisioned.unrestricted)
    return unsupported(record.backend, "opening the whole network to a session that was made with less",
                       "name the hosts it needs, or create another session with --net allowed");
  if (!asked.allowed_hosts.empty() && record.kept && record.provisioned.unrestricted)
    return unsupported(record.backend, "naming hosts in a session that was made with the whole network",
                       "its commands are on the host's own network, where nobody stands between; create another session with these hosts");
  if (!asked.allowed_hosts.empty() && record.relay_secret.empty())
    return unsupported(record.backend, "naming hosts in a session that an older version made", "create it again");
  if (record.network.unrestricted && !asked.unrestricted) return check_nobody_keeps_it(places, record);
  return {};
}

// Nobody believes in a host that a ceiling of the system took away again.
SandboxResult<void> check_all_admitted(const NetworkPolicy& asked, const Policy& composed, const Plan& plan) {
  if (plan.refusal) return fail_with(Kind::network_policy, plan.refusal->message, plan.refusal->hint);
  if (asked.allowed_hosts.empty()) return {};
  const auto& admitted = composed.effective_network().allowed_hosts;
  for (const auto& text : asked.allowed_hosts) {
    const auto rule = policy::parse_host_rule(text);
    if (!rule || composed.level() != SideEffectLevel::network || std::ranges::find(admitted, *rule) == admitted.end())
      return fail_with(Kind::network_policy, fmt::format("the system's ceiling does not admit {}", base::quoted(text)),
                       "'harn policy show' says which it admits");
  }
  if (!plan.egress || plan.egress->allow.empty()) {
    std::string why = "nothing here can hold single hosts apart";
    for (const auto& gap : plan.coverage.gaps)
      if (gap.code == "per_host_network") why = gap.detail;
    return unsupported("local", "limited network allow-lists on this host", std::move(why));
  }
  return {};
}

// Every command that runs has a relay of its own.
SandboxResult<void> tell_running(const Places& places, const Record& record, const Plan& plan) {
  const auto place = place_of(places, record.id);
  HARN_SESSION_TRY(names, sys::list_directory(place, most_names), io);
  for (const auto& name : names) {
    if (!name.starts_with(control_prefix)) continue;
    auto link = sandbox::RelayLink::open(
        {.directory = place, .secret = record.relay_secret, .socket = {.name = name, .type = sandbox::relay_socket.type}});
    if (!link) {
      ::unlink(place.join(name).text().c_str());
      continue;
    }
    // One that ended meanwhile reaches nobody.
    auto applied = link->apply(plan.egress, record.nameservers);
    if (!applied &&
        sandbox::RelayLink::open({.directory = place, .secret = record.relay_secret, .socket = {name, sandbox::relay_socket.type}}))
      return fail_with(Kind::network_policy, "a command that runs did not hear of the change",
                       "end it: it may still reach what was allowed before");
  }
  return {};
}

SandboxResult<void> tell_relay(const Record& record, const Plan& plan) {
  if (!plan.egress && !sandbox::RelayLink::open(relay_of(record))) return {};  // nobody ever needed one, or it is gone: closed
  auto named = sandbox::name_hosts({.address = relay_of(record), .keeper = record.keeper, .plan = plan, .nameservers = record.nameservers});
  if (!named) return std::unexpected(from(std::move(named).error(), Kind::network_policy));
  return {};
}

}  // namespace

SandboxResult<void> allow_network(const NetworkPolicy& asked, Policy& policy) {
  if (!asked.unrestricted && asked.allowed_hosts.empty()) return {};
  policy.side_effect_level = SideEffectLevel::network;
  if (!policy.network) policy.network.emplace();
  policy.network->allowed_hosts.clear();
  policy.network->mode = asked.unrestricted ? NetworkMode::unrestricted : NetworkMode::limited;
  for (const auto& host : asked.allowed_hosts) {
    auto rule = policy::parse_host_rule(host);
    if (!rule) return fail_with(Kind::network_policy, rule.error().message, rule.error().hint);
    policy.network->allowed_hosts.push_back(std::move(*rule));
  }
  return {};
}

NetworkPolicy network_of(const Policy& policy) {
  NetworkPolicy out;
  if (policy.level() != SideEffectLevel::network) return out;
  const auto& network = policy.effective_network();
  out.unrestricted = network.mode == NetworkMode::unrestricted;
  if (!out.unrestricted)
    for (const auto& rule : network.allowed_hosts) out.allowed_hosts.push_back(policy::text_of(rule));
  return out;
}

SandboxResult<Policy> policy_in_force(const Record& record, Policy made) {
  if (record.network == record.provisioned) return made;
  if (record.network.unrestricted || !record.network.allowed_hosts.empty()) {
    HARN_SESSION_PASS(allow_network(record.network, made));
    return made;
  }
  if (made.network) {
    made.network->mode = NetworkMode::limited;
    made.network->allowed_hosts.clear();
  }
  if (made.level() == SideEffectLevel::network) made.side_effect_level = SideEffectLevel::process_exec;
  return made;
}

std::string_view network_word(const NetworkPolicy& network) {
  if (network.unrestricted) return "allowed";
  return network.allowed_hosts.empty() ? "none" : "restricted";
}

SandboxResult<Replanned> plan_again(const Record& record, Policy policy, const embed::Environment& environment) {
  HARN_SESSION_TRY(sandbox,
                   Sandbox::open(std::move(policy), {.environment = environment, .cwd = record.root},
                                 {.egress = record.egress, .guests = guests_of(record.mounts), .hosts_later = true}),
                   lifecycle);
  HARN_SESSION_TRY(plan, sandbox.plan({.argv = {"true"}, .cwd = record.root, .environment = environment}), lifecycle);
  return Replanned{.policy = sandbox.policy(), .plan = std::move(plan)};
}

SandboxResult<void> keep_plan(const Places& places, const Plan& plan, Record& record) {
  auto whole = plan;
  whole.env.variables.clear();
  whole.env.removed.clear();
  HARN_SESSION_OK(put_file(record, plan_file(places, record.id), plan_to_json(whole, -1)), io);
  record.plan_digest = digest(plan);
  return {};
}

SandboxResult<void> open_hosts(const Record& record, const Plan& plan) {
  if (!record.kept || !plan.egress) return {};
  return tell_relay(record, plan);
}

sandbox::RelayAddress relay_of(const Record& record) { return {.directory = record.socket, .secret = record.relay_secret}; }

bool is_closed(const Record& record, const Policy& policy) {
  const bool loopback = policy.effective_network().loopback;
  return record.kept && !record.network.unrestricted && record.network.allowed_hosts.empty() && !loopback;
}

SandboxResult<Record> change_network(const Places& places, const std::string& id, const NetworkChange& change) {
  HARN_SESSION_PASS(live(places, id));
  HARN_SESSION_TAKE(lock, held(places, id));
  HARN_SESSION_TAKE(record, live(places, id));
  if (state_of(places, record) == SandboxState::terminated) return gone(id);
  const auto& asked = change.policy;
  // The same hosts again are no change, but their relay may be gone.
  if (asked == record.network && (asked.allowed_hosts.empty() || !record.kept)) return record;
  HARN_SESSION_PASS(check_possible(places, record, asked));
  const auto before = record;
  record.network = asked;
  HARN_SESSION_TRY(made, parse_policy_json(record.policy, {.home = change.home}), json);
  HARN_SESSION_TAKE(policy, policy_in_force(record, made));
  // What has the host's network needs no other plan: later commands get a filter besides, or all of theirs anew.
  const bool own_network = !record.provisioned.unrestricted;
  if (!own_network && record.kept) {
    HARN_SESSION_PASS(save(places, record));
    return record;
  }
  HARN_SESSION_TAKE(again, plan_again(record, policy, change.environment));
  if (!asked.unrestricted) HARN_SESSION_PASS(check_all_admitted(asked, again.policy, again.plan));
  if (!record.kept) {
    HARN_SESSION_PASS(save(places, record));
    // What runs with named hosts goes on with those: nobody can give it the whole network.
    if (!asked.unrestricted) HARN_SESSION_PASS(tell_running(places, record, again.plan));
    return record;
  }
  record.env_added = added_variables(again.plan, policy, {.argv = {"true"}, .cwd = record.root, .environment = change.environment});
  HARN_SESSION_PASS(tell_relay(record, again.plan));
  auto kept = keep_plan(places, again.plan, record);
  if (kept) kept = save(places, record);
  if (kept) return record;
  // What is in force must be what is written down; nobody reaches anything rather than more.
  if (const auto link = sandbox::RelayLink::open(relay_of(before))) link->end();
  return std::unexpected(std::move(kept).error());
}

SandboxResult<OwnControl> OwnControl::open(const Places& places, const Record& record) {
  const auto place = place_of(places, record.id);
  const auto name = fmt::format("{}{:016x}", control_prefix, sys::random_number());
  HARN_SESSION_TRY(listener, run::listen_in(place, {.name = name, .type = sandbox::relay_socket.type}), exec);
  return OwnControl(place.join(name), std::move(listener));
}

OwnControl::~OwnControl() {
  if (listener_) ::unlink(path_.text().c_str());
}

}  // namespace harn::session
