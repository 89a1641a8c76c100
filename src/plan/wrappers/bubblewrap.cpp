// SPDX-License-Identifier: Apache-2.0
// bubblewrap 0.8: the view of the linux backend, spelled as the arguments of bwrap. Everything about
// what is shown where is decided in view.cpp; this file only translates and names what bwrap lacks.
#include "plan/wrappers/bubblewrap.h"

#include <fmt/format.h>

#include "base/text.h"
#include "plan/coarse_gaps.h"
#include "plan/coverage.h"
#include "plan/limits.h"
#include "plan/linux/ancestors.h"
#include "plan/linux/dangerous_sockets.h"
#include "plan/linux/view.h"
#include "plan/lower.h"
#include "plan/wrappers/links.h"
#include "plan/wrappers/wrapper_coverage.h"

namespace harn::plan {
namespace {

using Words = std::vector<std::string>;

// Compiled into bubblewrap, which refuses to start beyond it.
constexpr std::size_t bwrap_max_words = 9000;

void append(Words& words, std::initializer_list<std::string> more) { words.insert(words.end(), more); }

class Translation {
 public:
  explicit Translation(const BwrapContext& context) : context_(context) {}

  void add(const MountStep& step, bool holds_more) {
    const auto& target = step.target.text();
    if (over_link(step)) return out_.over_links.push_back(step.target);
    on_host_.enter(step.target, step.op == MountOp::bind || step.op == MountOp::bind_read);
    switch (step.op) {
      case MountOp::tmpfs: return fresh(target);
      case MountOp::directory: return append(out_.words, {"--dir", target});
      case MountOp::symlink: return append(out_.words, {"--symlink", step.source, target});
      case MountOp::dev: return append(out_.words, {"--dev", target});
      case MountOp::proc: return processes(target);
      case MountOp::bind: return append(out_.words, {bind_option(step), step.source, target});
      case MountOp::bind_read: return append_read(step);
      case MountOp::hide: return hide(step, holds_more);
      case MountOp::overlay: return;  // comes after the choice of a backend, and refuses this one
    }
  }

  BwrapMounts take() && {
    // Last, because nothing can be mounted inside any more.
    for (const auto& path : closed_last_) append(out_.words, {"--remount-ro", path});
    return std::move(out_);
  }

 private:
  // Facts without pid namespaces show the host's /proc; a bwrap that works has a pid namespace.
  void append_read(const MountStep& step) {
    const auto& target = step.target.text();
    if (target == "/proc") processes(target);
    else append(out_.words, {"--ro-bind", step.source, target});
  }

  // Read-only as a whole: uid 0 keeps its right to write /proc/sys without any capability, and
  // core_pattern there names a program the kernel starts outside.
  void processes(const std::string& target) {
    append(out_.words, {"--proc", target});
    closed_last_.push_back(target);
  }

  // The root holds mount points only; every other fresh place is the command's own.
  void fresh(const std::string& target) {
    append(out_.words, {"--tmpfs", target});
    if (target == "/") closed_last_.push_back(target);
  }

  std::string bind_option(const MountStep& step) const {
    const bool device = step.file && context_.facts.kind_of(step.target) == PathKind::device;
    if (device) return "--dev-bind";
    return context_.writes ? "--bind" : "--ro-bind";
  }

  // bwrap follows a link of the host where it mounts, and would cover what the link leads to.
  bool over_link(const MountStep& step) {
    const auto* around = on_host_.enclosing(step.target);
    return around != nullptr && *around && link_below(context_.facts, step.target.parent(), step.target).has_value();
  }

  void hide(const MountStep& step, bool holds_more) {
    const auto& target = step.target.text();
    // Devices do not open on this mount, so the file answers EACCES rather than looking empty.
    if (step.file) return append(out_.words, {"--ro-bind", "/dev/null", target});
    append(out_.words, {"--perms", holds_more ? "0111" : "0000", "--tmpfs", target});
    closed_last_.push_back(target);
  }

  const BwrapContext& context_;
  BwrapMounts out_ = {};
  Words closed_last_ = {};
  Ancestors<bool> on_host_ = {};  // whether names at a place are those of the host
};

Words boundary(const PlanInput& input) {
  Words words{program(input.facts, "bubblewrap", "bwrap"),
              "--die-with-parent",
              "--unshare-user",
              "--unshare-pid",
              "--unshare-ipc",
              "--unshare-uts",
              "--unshare-cgroup-try"};
  if (wrapped_reach(input.policy) != NetworkReach::unrestricted) words.emplace_back("--unshare-net");
  append(words, {"--cap-drop", "ALL"});
  return words;
}

void cover(const PlanInput& input, ViewPlan& shown, const BwrapMounts& mounts, Coverage& coverage) {
  cover_separation("bubblewrap", coverage);
  cover_network(input.policy, "bubblewrap", coverage);
  enforced_by(coverage, Dimension::devices, "seccomp");
  cover_joint_deletes(input.rules, coverage);
  cover_unguarded_names(std::move(shown.absent_names), coverage);
  auto links = std::move(shown.loose_links);
  links.insert(links.end(), mounts.over_links.begin(), mounts.over_links.end());
  cover_links(std::move(links), coverage);
  if (input.facts.uid == 0)
    open_gap(coverage,
             {.dimension = Dimension::metadata,
              .code = "device_modes",
              .paths = {AbsPath::of("/dev/full"), AbsPath::of("/dev/null"), AbsPath::of("/dev/random"), AbsPath::of("/dev/tty"),
                        AbsPath::of("/dev/urandom"), AbsPath::of("/dev/zero")},
              .detail = "root owns the devices bubblewrap shows and may change their modes and times on the host",
              .remedy = "run as an ordinary user, or use the linux backend"},
             Enforcement::degraded);
  open_gap_at(coverage,
              {.dimension = Dimension::devices,
               .code = "device_write",
               .paths = std::move(shown.loose_devices),
               .detail = "a read-only mount does not stop writing to a device",
               .remedy = "use the linux backend on a kernel with Landlock"},
              Enforcement::not_enforced);
}

}  // namespace

BwrapMounts bwrap_mounts(const View& view, const BwrapContext& context) {
  Translation translation(context);
  for (std::size_t i = 0; i < view.mounts.size(); ++i) {
    const auto& step = view.mounts[i];
    const bool holds_more = i + 1 < view.mounts.size() && step.target.contains(view.mounts[i + 1].target);
    translation.add(step, holds_more);
  }
  return std::move(translation).take();
}

Status lower_bubblewrap(const PlanInput& input, Plan& plan) {
  HARN_OK(refuse_dangerous_sockets(input.policy));
  const bool shares_network = wrapped_reach(input.policy) == NetworkReach::unrestricted;
  const auto sockets = wrapped_sockets(input, shares_network);
  HARN_TRY(filter, wrapped_syscalls(input, sockets));
  auto shown = plan_view(input, {.network = !shares_network, .loopback = !shares_network});
  auto mounts = bwrap_mounts(shown.view, {.facts = input.facts, .writes = input.rules.writes_allowed()});

  Words words = boundary(input);
  words.insert(words.end(), mounts.words.begin(), mounts.words.end());
  append(words, {"--seccomp", "@file:seccomp.bpf", "--json-status-fd", "@status", "--chdir", plan.cwd.text(), "--"});
  words.insert(words.end(), plan.argv.begin(), plan.argv.end());
  if (words.size() > bwrap_max_words)
    return fail(cannot_express(fmt::format("bubblewrap takes at most {} words, and this plan needs {}", bwrap_max_words, words.size()),
                               "grant fewer paths, or use the linux backend"));

  cover(input, shown, mounts, plan.coverage);
  cover_sockets(sockets, "bubblewrap", plan);
  place_wrapped_temp(input, plan);
  lower_posix_limits(input.policy, input.facts, plan);
  plan.notes.insert(plan.notes.end(), shown.notes.begin(), shown.notes.end());
  plan.confinement = Wrapper{.argv = std::move(words), .syscalls = std::move(filter)};
  return {};
}

}  // namespace harn::plan
