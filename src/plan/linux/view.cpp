// SPDX-License-Identifier: Apache-2.0
// Rules come sorted, so a parent is mounted before its children and every later step covers an
// earlier one. At each path the builder compares what the rule wants with what the steps so far
// already show, and writes a step only where they differ.
#include "plan/linux/view.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>

#include "base/text.h"
#include "plan/linux/ancestors.h"
#include "policy/names.h"

namespace harn::plan {
namespace {

// In this order at equal paths: a place of our own is made before a rule could mount over it.
enum class ItemKind : std::uint8_t {
  own_proc,
  own_dev,
  empty,
  scratch,
  temp_alias,
  rule,
  socket
};

struct OwnPlace {
  AbsPath path = {};
  ItemKind kind = ItemKind::scratch;
};

struct Item {
  const AbsPath& path;
  ItemKind kind = ItemKind::rule;
  const PathRule* rule = nullptr;
};

// What the steps so far show at a place. Access none means: made by us, nothing of the host inside.
struct Shown {
  Access access = Access::none;
  bool scratch = false;  // private and writable
  bool own_dev = false;
  bool closed = false;  // nothing may be mounted beneath: our /proc, or a link
};

class ViewBuilder {
 public:
  explicit ViewBuilder(const PlanInput& input) : input_(input), temp_(wants_temp(input.policy)) {}

  ViewPlan run() && {
    open_root();
    // The few places and sockets are merged into the rules, which come sorted.
    const auto own = own_places();
    auto next = own.begin();
    for (const auto& rule : input_.rules.rules()) {
      for (; next != own.end() && precedes(*next, rule); ++next) place({next->path, next->kind});
      place({rule.path, ItemKind::rule, &rule});
    }
    for (; next != own.end(); ++next) place({next->path, next->kind});
    return std::move(out_);
  }

 private:
  const HostFacts& facts() const { return input_.facts; }

  std::optional<AbsPath> link_at(const AbsPath& path) const {
    const auto it = facts().paths.find(path.text());
    return it == facts().paths.end() ? std::nullopt : it->second.link_target;
  }

  // Nothing can be mounted beneath a link.
  bool rules_beneath(const AbsPath& path) const {
    const auto& rules = input_.rules.rules();
    const auto first =
        std::lower_bound(rules.begin(), rules.end(), path, [](const PathRule& rule, const AbsPath& wanted) { return rule.path < wanted; });
    return first != rules.end() && path.contains(first->path);
  }

  static bool precedes(const OwnPlace& own, const PathRule& rule) {
    const auto order = own.path <=> rule.path;
    return order < 0 || (order == 0 && own.kind < ItemKind::rule);
  }

  std::vector<OwnPlace> own_places() const {
    std::vector<OwnPlace> own = {{AbsPath::of("/proc"), ItemKind::own_proc},
                                 {AbsPath::of("/dev"), ItemKind::own_dev},
                                 {AbsPath::of("/run"), ItemKind::empty},
                                 {AbsPath::of("/tmp"), ItemKind::scratch}};
    const auto var_tmp = AbsPath::of("/var/tmp");
    if (temp_) own.push_back({var_tmp, rules_beneath(var_tmp) ? ItemKind::scratch : ItemKind::temp_alias});
    if (!facts().home.is_root()) own.push_back({facts().home, ItemKind::scratch});
    for (const auto& socket : entries(input_.policy.process_sandbox.unix_sockets)) own.push_back({socket.path, ItemKind::socket});
    std::sort(own.begin(), own.end(),
              [](const OwnPlace& a, const OwnPlace& b) { return a.path != b.path ? a.path < b.path : a.kind < b.kind; });
    return own;
  }

  void emit(MountStep step, Shown shown) {
    regions_.enter(step.target, shown);
    out_.view.mounts.push_back(std::move(step));
  }

  void open_root() {
    const AbsPath root;
    const auto access = input_.rules.access(root);
    if (access == Access::none) return emit({.op = MountOp::tmpfs, .target = root, .note = "root"}, {});
    const auto origin = input_.rules.nearest(root)->origin;
    bind(root, access, {.target = root, .note = std::string(base::enum_name(origin))});
  }

  void bind(const AbsPath& source, Access access, MountStep step) {
    step.op = access == Access::write ? MountOp::bind : MountOp::bind_read;
    step.source = source.text();
    emit(std::move(step), {.access = access});
  }

  void place(const Item& item) {
    const auto shown = *regions_.enclosing(item.path);  // the root was entered first
    if (shown.closed) return;
    switch (item.kind) {
      case ItemKind::own_proc: return place_proc();
      case ItemKind::own_dev: return emit({.op = MountOp::dev, .target = item.path, .note = "own devices"}, {.own_dev = true});
      case ItemKind::empty:
      case ItemKind::scratch:
      case ItemKind::temp_alias: return place_own(item, shown);
      case ItemKind::rule: return place_rule(*item.rule, shown);
      case ItemKind::socket: return place_socket(item.path, shown);
    }
  }

  // Only the owner of a pid namespace may mount a /proc of it.
  void place_proc() {
    const auto proc = AbsPath::of("/proc");
    if (facts().linux.pid_namespaces) emit({.op = MountOp::proc, .target = proc, .note = "own processes"}, {.closed = true});
    else emit({.op = MountOp::bind_read, .source = proc.text(), .target = proc, .note = "no pid namespace"}, {.closed = true});
  }

  // A place the policy grants stays the host's; any other becomes ours.
  void place_own(const Item& item, const Shown& shown) {
    if (input_.rules.access(item.path) != Access::none) return;
    if (shown.access != Access::none && !facts().exists(item.path)) return;  // no mount point, and we make none
    if (item.kind == ItemKind::temp_alias) {
      if (shown.access != Access::none || shown.scratch) return;
      return emit({.op = MountOp::symlink, .source = "/tmp", .target = item.path, .note = "temporary files"}, {.closed = true});
    }
    if (item.kind == ItemKind::scratch && temp_ && !shown.scratch) {
      if (shown.access == Access::write) pin_above(item.path);
      return emit({.op = MountOp::tmpfs, .target = item.path, .note = "private"}, {.scratch = true});
    }
    if (shown.access == Access::none) emit({.op = MountOp::directory, .target = item.path, .note = "empty"}, {.scratch = shown.scratch});
  }

  void place_rule(const PathRule& rule, const Shown& shown) {
    if (shown.own_dev && (rule.origin == Origin::device || rule.path == regions_.place())) return;
    if (rule.kind == PathKind::missing) {
      if (shown.access == Access::write && rule.access < Access::write) out_.absent_names.push_back(rule.path);
      return;
    }
    if (rule.access == shown.access) return;
    if (shown.access == Access::none) return reveal(rule, shown);
    if (rule.access > shown.access) return raise(rule, shown);
    lower(rule, shown);
  }

  MountStep step_for(const PathRule& rule) const {
    return {.target = rule.path, .file = rule.kind != PathKind::directory, .note = std::string(base::enum_name(rule.origin))};
  }

  // A link is shown as a link: what it leads to is decided by the rules of the place it leads to,
  // because whoever could make the link must not choose what a later run opens.
  void reveal(const PathRule& rule, const Shown& shown) {
    const auto target = link_at(rule.path);
    if (!target) return grant(rule, shown);
    if (input_.rules.access(*target) < rule.access)
      out_.notes.push_back(base::quoted(rule.path.text()) + " is a link to " + base::quoted(target->text()) +
                           ", which no rule opens as far");
    emit({.op = MountOp::symlink, .source = target->text(), .target = rule.path, .note = std::string(base::enum_name(rule.origin))},
         {.closed = true});
  }

  void raise(const PathRule& rule, const Shown& shown) {
    if (!link_at(rule.path) && !link_between(regions_.place(), rule.path)) grant(rule, shown);
  }

  void grant(const PathRule& rule, const Shown& shown) {
    const bool device = shown.own_dev || rule.kind == PathKind::device;
    if (device && rule.access == Access::read) out_.loose_devices.push_back(rule.path);
    bind(rule.path, rule.access, step_for(rule));
  }

  // Less than what surrounds it. Inside a writable bind the directories on the way are bound onto
  // themselves first: a mount point cannot be renamed, but a directory holding one can, and a fresh
  // one of the same name would be writable.
  void lower(const PathRule& rule, const Shown& shown) {
    if (rule.locked && shown.access == Access::read) return;
    if (auto link = link_between(regions_.place(), rule.path)) {
      if (shown.access == Access::write) out_.loose_links.push_back(std::move(*link));
      return;
    }
    if (shown.access == Access::write) pin_above(rule.path);
    auto step = step_for(rule);
    const auto target = link_at(rule.path);
    // Only a file can be mounted over a link, and only what is readable anyway may show up there.
    const bool readable = rule.access == Access::read && (!target || (step.file && input_.rules.access(*target) >= Access::read));
    if (readable) return bind(target.value_or(rule.path), Access::read, std::move(step));
    step.op = MountOp::hide;
    step.file = step.file || target;
    emit(std::move(step), {});
  }

  std::vector<AbsPath> between(const AbsPath& above, const AbsPath& path) const {
    std::vector<AbsPath> way;
    for (auto at = path.parent(); at != above; at = at.parent()) way.push_back(at);
    std::reverse(way.begin(), way.end());
    return way;
  }

  std::optional<AbsPath> link_between(const AbsPath& above, const AbsPath& path) const {
    for (auto& at : between(above, path))
      if (link_at(at)) return std::move(at);
    return std::nullopt;
  }

  void pin_above(const AbsPath& path) {
    for (const auto& at : between(regions_.place(), path)) bind(at, Access::write, {.target = at, .note = "pin"});
  }

  // Connecting needs the socket's name to exist, nothing more; a read-only mount does not stop it.
  void place_socket(const AbsPath& path, const Shown& shown) {
    if (!facts().exists(path)) {
      out_.notes.push_back("the Unix socket " + base::quoted(path.text()) + " does not exist now and will not be reachable");
      return;
    }
    if (shown.access == Access::none) bind(path, Access::write, {.target = path, .file = true, .note = "unix_socket"});
  }

  const PlanInput& input_;
  bool temp_;
  ViewPlan out_ = {};
  Ancestors<Shown> regions_ = {};
};

std::vector<std::string> namespaces_of(const LinuxFacts& facts, Isolation isolation) {
  std::vector<std::string> names = {"user", "mount"};
  if (facts.pid_namespaces) names.emplace_back("pid");
  names.insert(names.end(), {"ipc", "uts"});
  if (facts.cgroup == CgroupKind::v2) names.emplace_back("cgroup");
  if (isolation.network) names.emplace_back("net");
  return names;
}

}  // namespace

bool wants_temp(const Policy& policy) { return policy.may_write() && policy.effective_presets().contains(Preset::user_temp); }

ViewPlan plan_view(const PlanInput& input, Isolation isolation) {
  auto out = ViewBuilder(input).run();
  out.view.namespaces = namespaces_of(input.facts.linux, isolation);
  out.view.loopback_up = isolation.loopback;
  return out;
}

}  // namespace harn::plan
