// SPDX-License-Identifier: Apache-2.0
// Every member of a Plan, named once. Wire name = member name, unless a comment says why not.
#pragma once

#include "harn/plan.h"
#include "plan/json_fields.h"
#include "plan/names.h"

namespace harn::plan {

template <>
struct Fields<DimensionCoverage> {
  static constexpr std::tuple list{always("status", &DimensionCoverage::status), field("layers", &DimensionCoverage::layers),
                                   field("reason", &DimensionCoverage::reason)};
};

template <>
struct Fields<Gap> {
  static constexpr std::tuple list{always("dimension", &Gap::dimension), always("code", &Gap::code), field("paths", &Gap::paths),
                                   field("detail", &Gap::detail), field("remedy", &Gap::remedy)};
};

// One member per dimension, by name, all of them: a reader never has to know the defaults.
template <>
struct Json<std::array<DimensionCoverage, dimension_count>> {
  using Dimensions = std::array<DimensionCoverage, dimension_count>;
  static base::Value write(const Dimensions& dimensions);
  static Status read(const base::Value& value, Dimensions& out);
};

template <>
struct Fields<Coverage> {
  static constexpr std::tuple list{always("dimensions", &Coverage::dimensions), field("gaps", &Coverage::gaps)};
};

template <>
struct Fields<NoConfinement> {
  static constexpr std::tuple<> list{};
};

template <>
struct Fields<MountStep> {
  static constexpr std::tuple list{always("op", &MountStep::op),        always("target", &MountStep::target),
                                   field("source", &MountStep::source), field("file", &MountStep::file),
                                   field("layer", &MountStep::layer),   field("note", &MountStep::note)};
};

template <>
struct Fields<View> {
  static constexpr std::tuple list{field("namespaces", &View::namespaces), field("loopback_up", &View::loopback_up),
                                   field("mounts", &View::mounts), field("files", &View::files)};
};

template <>
struct Fields<LandlockRule> {
  static constexpr std::tuple list{always("path", &LandlockRule::path), always("access", &LandlockRule::access),
                                   field("note", &LandlockRule::note)};
};

template <>
struct Fields<LandlockPortRule> {
  static constexpr std::tuple list{always("port", &LandlockPortRule::port), always("access", &LandlockPortRule::access)};
};

template <>
struct Fields<LandlockPlan> {
  static constexpr std::tuple list{always("abi", &LandlockPlan::abi),
                                   field("handled_fs", &LandlockPlan::handled_fs),
                                   field("handled_net", &LandlockPlan::handled_net),
                                   field("scoped", &LandlockPlan::scoped),
                                   field("rules", &LandlockPlan::rules),
                                   field("ports", &LandlockPlan::ports)};
};

template <>
struct Fields<ArgumentTest> {
  static constexpr std::tuple list{always("index", &ArgumentTest::index), field("mask", &ArgumentTest::mask),
                                   always("compare", &ArgumentTest::compare), always("value", &ArgumentTest::value)};
};

template <>
struct Fields<SyscallRule> {
  static constexpr std::tuple list{always("names", &SyscallRule::names), field("when", &SyscallRule::when),
                                   always("action", &SyscallRule::action), field("error", &SyscallRule::error),
                                   field("reason", &SyscallRule::reason)};
};

template <>
struct Fields<SyscallFilter> {
  static constexpr std::tuple list{always("arch", &SyscallFilter::arch), always("otherwise", &SyscallFilter::otherwise),
                                   field("otherwise_error", &SyscallFilter::otherwise_error), field("rules", &SyscallFilter::rules)};
};

template <>
struct Fields<SupervisedPath> {
  static constexpr std::tuple list{always("path", &SupervisedPath::path), always("access", &SupervisedPath::access),
                                   field("device", &SupervisedPath::device)};
};

template <>
struct Fields<SupervisorPlan> {
  static constexpr std::tuple list{field("rules", &SupervisorPlan::rules),      field("reads", &SupervisorPlan::reads),
                                   field("decides", &SupervisorPlan::decides),  field("explains", &SupervisorPlan::explains),
                                   field("records", &SupervisorPlan::records),  field("asks", &SupervisorPlan::asks),
                                   field("sockets", &SupervisorPlan::sockets),  field("abstract_names", &SupervisorPlan::abstract_names),
                                   field("looks_at", &SupervisorPlan::looks_at)};
};

template <>
struct Fields<LinuxConfinement> {
  static constexpr std::tuple list{field("view", &LinuxConfinement::view),
                                   field("landlock", &LinuxConfinement::landlock),
                                   field("syscalls", &LinuxConfinement::syscalls),
                                   field("supervisor", &LinuxConfinement::supervisor),
                                   always("no_new_privileges", &LinuxConfinement::no_new_privileges),
                                   always("drop_capabilities", &LinuxConfinement::drop_capabilities)};
};

template <>
struct Fields<WrapperFile> {
  static constexpr std::tuple list{always("name", &WrapperFile::name), field("text", &WrapperFile::text)};
};

template <>
struct Fields<Wrapper> {
  static constexpr std::tuple list{always("argv", &Wrapper::argv), field("files", &Wrapper::files), field("syscalls", &Wrapper::syscalls),
                                   field("profile", &Wrapper::profile), field("environment", &Wrapper::environment)};
};

template <>
struct Fields<AclGrant> {
  static constexpr std::tuple list{always("path", &AclGrant::path), field("modify", &AclGrant::modify),
                                   field("inherit", &AclGrant::inherit), field("stops_inheritance", &AclGrant::stops_inheritance),
                                   field("note", &AclGrant::note)};
};

template <>
struct Fields<AppContainer> {
  static constexpr std::tuple list{always("name", &AppContainer::name),
                                   field("capability_sids", &AppContainer::capability_sids),
                                   field("grants", &AppContainer::grants),
                                   field("environment", &AppContainer::environment),
                                   field("job_limits", &AppContainer::job_limits),
                                   field("job_flags", &AppContainer::job_flags),
                                   field("ui_limits", &AppContainer::ui_limits)};
};

template <>
struct Fields<Unveil> {
  static constexpr std::tuple list{always("path", &Unveil::path), always("permissions", &Unveil::permissions)};
};

template <>
struct Fields<PledgeUnveil> {
  static constexpr std::tuple list{field("unveils", &PledgeUnveil::unveils), field("promises", &PledgeUnveil::promises),
                                   field("exec_promises", &PledgeUnveil::exec_promises)};
};

template <>
struct KindNames<Confinement> {
  static constexpr std::array<std::string_view, std::variant_size_v<Confinement>> names{"none", "linux", "wrapper", "appcontainer",
                                                                                        "pledge_unveil"};
};

template <>
struct Fields<ResourceLimit> {
  static constexpr std::tuple list{always("name", &ResourceLimit::name), always("soft", &ResourceLimit::soft),
                                   always("hard", &ResourceLimit::hard)};
};

template <>
struct Fields<LimitPlan> {
  static constexpr std::tuple list{field("rlimits", &LimitPlan::rlimits),
                                   field("cgroup", &LimitPlan::cgroup),
                                   field("watched", &LimitPlan::watched),
                                   field("wall_time_ms", &LimitPlan::wall_time_ms),
                                   field("idle_timeout_ms", &LimitPlan::idle_timeout_ms),
                                   field("max_output_bytes", &LimitPlan::max_output_bytes)};
};

template <>
struct Fields<RemovedVariable> {
  static constexpr std::tuple list{always("name", &RemovedVariable::name), field("why", &RemovedVariable::why)};
};

template <>
struct Fields<EnvPlan> {
  static constexpr std::tuple list{field("variables", &EnvPlan::variables), field("removed", &EnvPlan::removed)};
};

template <>
struct Fields<HostRule> {
  static constexpr std::tuple list{always("host", &HostRule::host), field("port", &HostRule::port)};
};

template <>
struct Fields<EgressPlan> {
  static constexpr std::tuple list{field("allow", &EgressPlan::allow),
                                   field("deny", &EgressPlan::deny),
                                   field("blocked_ports", &EgressPlan::blocked_ports),
                                   field("block_private", &EgressPlan::block_private),
                                   field("allow_loopback", &EgressPlan::allow_loopback),
                                   field("ports", &EgressPlan::ports),
                                   field("publish", &EgressPlan::publish),
                                   always("relay_port", &EgressPlan::relay_port),
                                   field("asks", &EgressPlan::asks),
                                   field("supervised", &EgressPlan::supervised)};
};

template <>
struct Fields<TriedBackend> {
  static constexpr std::tuple list{always("backend", &TriedBackend::backend), field("why_not", &TriedBackend::why_not)};
};

template <>
struct Fields<Refusal> {
  static constexpr std::tuple list{always("mechanism", &Refusal::mechanism),  always("availability", &Refusal::availability),
                                   always("profile", &Refusal::profile),      always("requirement", &Refusal::requirement),
                                   field("dimensions", &Refusal::dimensions), field("tried", &Refusal::tried),
                                   always("message", &Refusal::message),      field("hint", &Refusal::hint)};
};

template <>
struct Fields<Preopen> {
  static constexpr std::tuple list{always("guest", &Preopen::guest), always("host", &Preopen::host), field("writable", &Preopen::writable)};
};

template <>
struct Fields<WasiPlan> {
  static constexpr std::tuple list{always("runtime", &WasiPlan::runtime), always("module", &WasiPlan::module),
                                   always("argv", &WasiPlan::argv), field("preopens", &WasiPlan::preopens)};
};

template <>
struct Fields<Plan> {
  static constexpr std::tuple list{always("route", &Plan::route),
                                   always("backend", &Plan::backend),
                                   always("profile", &Plan::profile),
                                   field("host", &Plan::host),
                                   field("policy_digest", &Plan::policy_digest),
                                   always("argv", &Plan::argv),
                                   always("cwd", &Plan::cwd),
                                   field("env", &Plan::env),
                                   field("limits", &Plan::limits),
                                   always("confinement", &Plan::confinement),
                                   field("egress", &Plan::egress),
                                   field("wasi", &Plan::wasi),
                                   field("scratch", &Plan::scratch),
                                   always("coverage", &Plan::coverage),
                                   field("notes", &Plan::notes),
                                   field("tried", &Plan::tried),
                                   field("refusal", &Plan::refusal)};
};

}  // namespace harn::plan
