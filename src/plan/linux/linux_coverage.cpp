// SPDX-License-Identifier: Apache-2.0
#include "plan/linux/linux_coverage.h"

#include <algorithm>
#include <utility>

#include "plan/coverage.h"
#include "plan/linux/supervisor.h"

namespace harn::plan {
namespace {

constexpr auto hole = Enforcement::not_enforced;
constexpr auto weaker = Enforcement::degraded;
constexpr auto want_view = "let this user create user namespaces";

class CoverageWriter {
 public:
  CoverageWriter(const PlanInput& input, const LinuxLayers& layers, Coverage& coverage)
      : input_(input),
        layers_(layers),
        coverage_(coverage),
        view_(layers.view ? &*layers.view : nullptr),
        landlock_(layers.landlock ? &*layers.landlock : nullptr),
        supervised_(layers.supervisor && layers.supervisor->decides),
        pids_(view_ != nullptr && input.facts.linux.pid_namespaces) {}

  void run() {
    cover_reads();
    cover_writes();
    cover_names();
    cover_metadata();
    cover_network();
    cover_unix_sockets();
    cover_processes();
    cover_devices();
  }

 private:
  int abi() const { return landlock_ == nullptr ? 0 : landlock_->plan.abi; }

  void by(Dimension dimension, bool holds, std::string layer) {
    if (holds) enforced_by(coverage_, dimension, std::move(layer));
  }

  void gap(Enforcement severity, Gap gap) { open_gap(coverage_, std::move(gap), severity); }
  void gap_at(Enforcement severity, Gap entry) {
    if (!entry.paths.empty()) gap(severity, std::move(entry));
  }

  // A denial beneath something granted is beyond Landlock; with a view it is the view's alone.
  void cover_reads() {
    for (const auto dimension : {Dimension::reads, Dimension::credential_reads}) {
      std::vector<AbsPath> open;
      if (landlock_ != nullptr)
        for (const auto& rule : landlock_->denied_inside)
          if ((rule.origin == Origin::credential) == (dimension == Dimension::credential_reads)) open.push_back(rule.path);
      by(dimension, view_ != nullptr, "view");
      by(dimension, landlock_ != nullptr && (view_ == nullptr || open.empty()), "landlock");
      by(dimension, supervised_ && !open.empty(), "supervisor");
      if (supervised_)
        gap_at(weaker, {.dimension = dimension,
                        .code = "nested_execute",
                        .paths = std::move(open),
                        .detail = "a program that lies beneath a denied path can be started, though not opened",
                        .remedy = want_view});
      else if (view_ == nullptr)
        gap_at(hole, {.dimension = dimension,
                      .code = "nested_deny",
                      .paths = std::move(open),
                      .detail = "Landlock cannot deny a path inside a granted one",
                      .remedy = want_view});
    }
  }

  void cover_writes() {
    const bool exact = landlock_ != nullptr && landlock_->read_only_inside.empty() && landlock_->denied_in_writable.empty();
    by(Dimension::writes, view_ != nullptr, "view");
    by(Dimension::writes, landlock_ != nullptr && (view_ == nullptr || exact), "landlock");
    by(Dimension::writes, supervised_, "supervisor");
    if (view_ == nullptr && !supervised_) cover_writes_without_view();
    const bool separate = input_.rules.writes_allowed() != input_.rules.removes_allowed();
    if (landlock_ == nullptr && separate)
      gap_at(hole, {.dimension = Dimension::writes,
                    .code = "delete_not_separable",
                    .paths = writable_paths(),
                    .detail = "mounts cannot tell writing from deleting",
                    .remedy = "use a kernel with Landlock"});
    if (!layers_.filtered)
      gap(weaker, {.dimension = Dimension::writes,
                   .code = "no_syscall_filter",
                   .detail = "without a system call filter the command may build namespaces of its own",
                   .remedy = "use a kernel with seccomp"});
  }

  void cover_writes_without_view() {
    gap_at(hole, {.dimension = Dimension::writes,
                  .code = "nested_read_only",
                  .paths = landlock_->read_only_inside,
                  .detail = "Landlock cannot keep a path read-only inside a writable one",
                  .remedy = want_view});
    gap_at(hole, {.dimension = Dimension::writes,
                  .code = "nested_deny",
                  .paths = landlock_->denied_in_writable,
                  .detail = "Landlock cannot deny a path inside a granted one",
                  .remedy = want_view});
    if (abi() >= 3) return;
    by(Dimension::writes, layers_.filtered, "seccomp");
    if (!layers_.filtered)
      gap(hole, {.dimension = Dimension::writes,
                 .code = "truncate_by_path",
                 .detail = "Landlock before ABI 3 does not stop a file from being emptied by its path",
                 .remedy = want_view});
  }

  std::vector<AbsPath> writable_paths() const {
    std::vector<AbsPath> paths;
    for (const auto& rule : input_.rules.rules())
      if (rule.access == Access::write && rule.origin != Origin::device) paths.push_back(rule.path);
    return paths;
  }

  // Names that must not come into being cannot be refused without leaving something on the host.
  void cover_names() {
    const auto& absent = view_ != nullptr ? view_->absent_names : landlock_->absent_names;
    // The supervisor refuses them; as a socket only where it can bind for the command.
    if (!supervised_ || (layers_.sockets.full && !input_.facts.linux.pidfd_getfd))
      gap_at(weaker, {.dimension = Dimension::writes,
                      .code = "absent_protected_name",
                      .paths = absent,
                      .detail = "names that do not exist yet can be created; the outcome lists any that appear"});
    if (view_ != nullptr)
      gap_at(weaker, {.dimension = Dimension::writes,
                      .code = "protected_link",
                      .paths = view_->loose_links,
                      .detail = "a link above a protected name can be replaced",
                      .remedy = "replace the link by a directory"});
  }

  void cover_metadata() {
    by(Dimension::metadata, view_ != nullptr, "view");
    const bool refused = layers_.filtered && !somewhere_writable(input_.rules);
    by(Dimension::metadata, refused, "seccomp");
    by(Dimension::metadata, supervised_, "supervisor");
    if (view_ != nullptr) return;
    gap(weaker, {.dimension = Dimension::metadata,
                 .code = "metadata_visible",
                 .detail = "names, sizes, owners, times, attributes and link targets outside the grants can be asked for and watched",
                 .remedy = want_view});
    if (!refused && !supervised_)
      gap(hole, {.dimension = Dimension::metadata,
                 .code = "metadata_outside",
                 .detail = "mode, owner, times and attributes of files outside the grants can be changed as far as their owner may",
                 .remedy = want_view});
  }

  void cover_network() {
    const auto d = Dimension::network;
    if (layers_.given == NetworkReach::unrestricted) {
      if (!input_.policy.effective_network().blocked_ports.empty())
        gap(hole, {.dimension = d,
                   .code = "blocked_ports",
                   .detail = "no layer can refuse single ports while the rest of the network is open",
                   .remedy = "name the allowed hosts instead"});
      return;
    }
    const bool ports = landlock_ != nullptr && !landlock_->plan.handled_net.empty();
    by(d, layers_.isolation.network, "view");
    by(d, layers_.supervised_network, "supervisor");
    by(d, layers_.given == NetworkReach::restricted, "relay");
    by(d, ports, "landlock");
    by(d, layers_.filtered && layers_.given == NetworkReach::none, "seccomp");
    if (layers_.asked != layers_.given) gap(hole, unheld_network());
    if (layers_.isolation.network || layers_.filtered) return;
    gap(hole, {.dimension = d,
               .code = ports ? "udp_not_covered" : "no_syscall_filter",
               .detail = ports ? "Landlock knows TCP only" : "nothing on this host keeps the network closed",
               .remedy = "use a kernel with seccomp"});
  }

  Gap unheld_network() const {
    const bool hosts = layers_.asked == NetworkReach::restricted;
    return {
        .dimension = Dimension::network,
        .code = hosts ? "per_host_network" : "loopback_only",
        .detail = hosts && input_.policy.effective_network().loopback
                      ? "single hosts beside a loopback of the command's own need a network namespace; nothing can be reached without one"
                  : hosts ? "single hosts need a network namespace, or a supervisor; nothing can be reached without either"
                          : "a loopback of its own needs a network namespace; without one every socket stays closed",
        .remedy = "let this user create network namespaces"};
  }

  void cover_unix_sockets() {
    const auto d = Dimension::unix_sockets;
    const auto& sockets = layers_.sockets;
    by(d, sockets.full && view_ != nullptr, "view");
    by(d, sockets.full && abi() >= 9, "landlock");
    by(d, sockets.supervised, "supervisor");
    by(d, !sockets.full, "seccomp");
    gap_at(hole, {.dimension = d,
                  .code = "named_unix_sockets",
                  .paths = sockets.exposed,
                  .detail = "services that listen beneath a granted path can be reached",
                  .remedy = "do not grant the places where services listen, or use a kernel with Landlock ABI 9"});
    gap_at(weaker, {.dimension = d,
                    .code = "named_unix_sockets",
                    .paths = sockets.granted,
                    .detail = "a server outside that listens inside a granted root can be reached",
                    .remedy = "use a kernel with Landlock ABI 9"});
    if (sockets.full && sockets.abstract_open)
      gap(hole, {.dimension = d,
                 .code = "abstract_unix_sockets",
                 .detail = "abstract sockets of the host can be reached",
                 .remedy = "use a kernel with Landlock ABI 6"});
  }

  void cover_processes() {
    by(Dimension::signals, pids_, "view");
    by(Dimension::signals, abi() >= 6, "landlock");
    const bool judged = supervised_ && supervises_signals(input_.facts);
    by(Dimension::signals, judged, "supervisor");
    if (!pids_ && abi() < 6 && !judged)
      gap(hole, {.dimension = Dimension::signals,
                 .code = "signals_outside",
                 .detail = "processes of the same user outside can be signalled",
                 .remedy = "use a kernel with Landlock ABI 6, or allow pid namespaces"});
    // With one, the kernel ends everybody as soon as our init program, or we, are gone.
    if (!pids_)
      for (const auto dimension : {Dimension::wall_time, Dimension::processes})
        gap(weaker, {.dimension = dimension,
                     .code = std::string(outlives_launcher),
                     .detail = std::string(outlives_launcher_detail),
                     .remedy = "allow pid namespaces"});
    // A process in another user namespace, or outside the Landlock domain, cannot be traced or read.
    by(Dimension::process_inspection, view_ != nullptr, "view");
    by(Dimension::process_inspection, landlock_ != nullptr, "landlock");
    by(Dimension::process_inspection, layers_.filtered, "seccomp");
    if (!pids_)
      gap(weaker, {.dimension = Dimension::process_inspection,
                   .code = "process_listing",
                   .detail = "processes outside can be listed, with their command lines, states and mounts",
                   .remedy = "allow pid namespaces"});
  }

  void cover_devices() {
    by(Dimension::devices, view_ != nullptr, "view");
    by(Dimension::devices, landlock_ != nullptr, "landlock");
    const bool limited = supervised_ && limits_ioctls(input_);
    by(Dimension::devices, limited, "seccomp");
    if (view_ == nullptr && abi() < 5 && !limited)
      gap(weaker, {.dimension = Dimension::devices,
                   .code = "device_ioctl",
                   .detail = "Landlock before ABI 5 does not limit ioctl on devices that may be opened",
                   .remedy = want_view});
    // The terminal is handed over open, so neither mounts nor Landlock have a say in it.
    if (!layers_.filtered)
      gap(hole, {.dimension = Dimension::devices,
                 .code = "terminal_input",
                 .detail = "a command on your terminal may push input into it (TIOCSTI) unless the kernel forbids it",
                 .remedy = "use a kernel with seccomp, or set sysctl dev.tty.legacy_tiocsti=0"});
    if (view_ != nullptr && landlock_ == nullptr)
      gap_at(hole, {.dimension = Dimension::devices,
                    .code = "device_write",
                    .paths = view_->loose_devices,
                    .detail = "a read-only mount does not stop writing to a device",
                    .remedy = "use a kernel with Landlock"});
  }

  const PlanInput& input_;
  const LinuxLayers& layers_;
  Coverage& coverage_;
  const ViewPlan* view_;
  const LandlockOutcome* landlock_;
  bool supervised_;
  bool pids_;
};

}  // namespace

bool somewhere_writable(const PathRules& rules) {
  return std::any_of(rules.rules().begin(), rules.rules().end(), [](const PathRule& rule) {
    return rule.access == Access::write && rule.origin != Origin::device && rule.kind != PathKind::missing;
  });
}

bool limits_ioctls(const PlanInput& input) {
  constexpr int abi_ioctl = 5;
  return input.facts.linux.landlock_abi < abi_ioctl && std::ranges::none_of(
                                                           input.rules.rules(),
                                                           [](const PathRule& rule) {
                                                             return rule.access != Access::none && rule.kind == PathKind::device &&
                                                                    rule.origin != Origin::device;
                                                           });
}

void cover_linux(const PlanInput& input, const LinuxLayers& layers, Coverage& coverage) { CoverageWriter(input, layers, coverage).run(); }

}  // namespace harn::plan
