// SPDX-License-Identifier: Apache-2.0
#include "support/plan_access.h"

#include <algorithm>

#include "plan/syscalls/bpf.h"
#include "support/acl_model.h"
#include "support/argv_mounts.h"
#include "support/bpf_machine.h"
#include "support/landlock_model.h"
#include "support/mount_model.h"
#include "support/sbpl.h"
#include "support/supervisor_model.h"
#include "support/unveil_model.h"

namespace harn::test {
namespace {

bool as_op(const PathVerdict& verdict, FileOp op) {
  if (op == FileOp::write) return verdict.write;
  if (op == FileOp::remove) return verdict.remove;
  return verdict.read;
}

bool as_op(Access access, FileOp op) {
  return op == FileOp::write || op == FileOp::remove ? access == Access::write : access >= Access::read;
}

// A denial of what is not there holds nothing back from a reader, and a plan may leave it out: only a supervisor
// that answers for every open knows it. That alone makes no difference between two plans.
bool denies_nothing(const SupervisorPlan& plan, const HostFacts& facts, const AbsPath& path, FileOp op) {
  if (op == FileOp::write || op == FileOp::remove) return false;
  const auto* rule = nearest_rule(plan, path);
  return rule != nullptr && rule->access == Access::none && !facts.exists(rule->path);
}

bool linux_allows(const LinuxConfinement& linux, const HostFacts& facts, const AbsPath& path, FileOp op) {
  if (linux.view && !mount_allows(*linux.view, path, op)) return false;
  const auto& supervisor = linux.supervisor;
  if (supervisor && !supervisor_allows(*supervisor, path, op) && !denies_nothing(*supervisor, facts, path, op)) return false;
  return !linux.landlock || landlock_allows(*linux.landlock, path, op);
}

PlanModel wrapper_model(const Plan& plan, const HostFacts& facts) {
  const auto& wrapper = std::get<Wrapper>(plan.confinement);
  if (plan.backend == Backend::macos) {
    std::string problem;
    return [profile = *SbplProfile::parse(wrapper.profile, problem)](const AbsPath& path, FileOp op) {
      return as_op(verdict_at(profile, path.text()), op);
    };
  }
  auto understood = plan.backend == Backend::bubblewrap ? understand_bwrap(wrapper.argv, facts)
                    : plan.backend == Backend::firejail ? understand_firejail(wrapper.argv, facts)
                                                        : understand_container(wrapper.argv, facts);
  return [understood = std::move(understood)](const AbsPath& path, FileOp op) { return as_op(understood.access(path), op); };
}

bool filter_reaches_network(const SyscallFilter& filter) {
  constexpr std::uint32_t audit_arch_x86_64 = 0xC000003E;
  constexpr std::uint32_t allow = 0x7FFF0000;
  constexpr std::uint32_t socket_number = 41;
  const auto program = plan::compile_filter(filter);
  const SyscallEvent event{.number = socket_number, .architecture = audit_arch_x86_64, .arguments = {2 /*AF_INET*/, 1 /*SOCK_STREAM*/, 0}};
  return execute(*program, event).verdict == allow;
}

bool has_word(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

PlanModel model_of(const Plan& plan, const HostFacts& facts) {
  if (const auto* linux = std::get_if<LinuxConfinement>(&plan.confinement))
    return [linux, &facts](const AbsPath& path, FileOp op) { return linux_allows(*linux, facts, path, op); };
  if (const auto* container = std::get_if<AppContainer>(&plan.confinement))
    return [model = AclModel(*container, AbsPath::of("C:/"))](const AbsPath& path, FileOp op) { return as_op(model.at(path), op); };
  if (const auto* openbsd = std::get_if<PledgeUnveil>(&plan.confinement))
    return [model = UnveilModel::load(*openbsd, facts)](const AbsPath& path, FileOp op) { return model && as_op(model->at(path), op); };
  if (std::holds_alternative<Wrapper>(plan.confinement)) return wrapper_model(plan, facts);
  return [](const AbsPath&, FileOp) { return true; };
}

bool plan_reaches_network(const Plan& plan) {
  if (const auto* linux = std::get_if<LinuxConfinement>(&plan.confinement)) {
    const bool own_network = linux->view && has_word(linux->view->namespaces, "net");
    return !own_network && (!linux->syscalls || filter_reaches_network(*linux->syscalls));
  }
  if (const auto* container = std::get_if<AppContainer>(&plan.confinement)) return !container->capability_sids.empty();
  if (const auto* openbsd = std::get_if<PledgeUnveil>(&plan.confinement))
    return openbsd->exec_promises.empty() || has_word(openbsd->exec_promises, "inet");
  const auto* wrapper = std::get_if<Wrapper>(&plan.confinement);
  if (wrapper == nullptr) return true;
  switch (plan.backend) {
    case Backend::bubblewrap: return !has_word(wrapper->argv, "--unshare-net") && !has_word(wrapper->argv, "--unshare-all");
    case Backend::firejail: return !has_word(wrapper->argv, "--net=none");
    case Backend::macos: {
      std::string problem;
      return SbplProfile::parse(wrapper->profile, problem)->allows({.operation = "network-outbound", .remote = "93.184.216.34:443"});
    }
    default: break;
  }
  for (std::size_t i = 0; i + 1 < wrapper->argv.size(); ++i)
    if (wrapper->argv[i] == "--network") return wrapper->argv[i + 1] != "none";
  return !has_word(wrapper->argv, "--network=none");
}

}  // namespace harn::test
