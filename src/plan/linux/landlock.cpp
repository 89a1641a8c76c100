// SPDX-License-Identifier: Apache-2.0
#include "plan/linux/landlock.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "plan/linux/ancestors.h"
#include "plan/linux/around_denials.h"
#include "policy/names.h"

namespace harn::plan {
namespace {

// Kernel order. ABI 4 brought TCP ports, 6 scopes, 7 audit flags, 8 thread sync: no file rights.
// Device nodes are never made: they would reach around every other rule.
constexpr LandlockRight rights[] = {
    {"execute", 1, RightKind::read, true},     {"write_file", 1, RightKind::write, true},    {"read_file", 1, RightKind::read, true},
    {"read_dir", 1, RightKind::read, false},   {"remove_dir", 1, RightKind::remove, false},  {"remove_file", 1, RightKind::remove, false},
    {"make_char", 1, RightKind::never, false}, {"make_dir", 1, RightKind::write, false},     {"make_reg", 1, RightKind::write, false},
    {"make_sock", 1, RightKind::write, false}, {"make_fifo", 1, RightKind::write, false},    {"make_block", 1, RightKind::never, false},
    {"make_sym", 1, RightKind::write, false},  {"refer", 2, RightKind::write, false},        {"truncate", 3, RightKind::write, true},
    {"ioctl_dev", 5, RightKind::device, true}, {"resolve_unix", 9, RightKind::socket, true},
};

constexpr RightKind operator|(RightKind a, RightKind b) {
  return static_cast<RightKind>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr bool holds(RightKind set, RightKind kind) { return (static_cast<unsigned>(set) & static_cast<unsigned>(kind)) != 0; }

// What one place gets, and what it is.
struct Grant {
  AbsPath path = {};
  RightKind kinds = RightKind::never;
  PathKind what = PathKind::directory;
  std::string note = {};
};

// One place in path order: a rule of the policy, or a directory the view made for the command.
struct Place {
  const AbsPath* path = nullptr;
  const PathRule* rule = nullptr;  // null = the view's own
};

struct Region {
  Access policy = Access::none;   // what the policy says here
  Access granted = Access::none;  // what this and every rule above add up to
};

class RuleWriter {
 public:
  RuleWriter(const PlanInput& input, const View* view)
      : input_(input), view_(view), abi_(std::min(input.facts.linux.landlock_abi, newest_landlock_abi)) {}

  LandlockOutcome run() && {
    out_.plan.abi = abi_;
    for (const auto& right : rights)
      if (right.since <= abi_) out_.plan.handled_fs.emplace_back(right.name);
    const auto all = places();
    out_.plan.rules.reserve(all.size());
    for (const auto& place : all) place.rule == nullptr ? add_own(*place.path) : add_rule(*place.rule);
    auto granted = std::exchange(out_.plan.rules, {});  // in order already, as the places were
    view_ != nullptr ? add_view_devices() : add_host_proc();
    if (abi_ >= 9) add_sockets();
    auto own = std::exchange(out_.plan.rules, {});
    const auto by_path = [](const LandlockRule& a, const LandlockRule& b) { return a.path < b.path; };
    std::sort(own.begin(), own.end(), by_path);
    out_.plan.rules.reserve(own.size() + granted.size());
    std::merge(std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()), std::make_move_iterator(granted.begin()),
               std::make_move_iterator(granted.end()), std::back_inserter(out_.plan.rules), by_path);
    return std::move(out_);
  }

 private:
  std::vector<Place> places() {
    std::vector<Place> places;
    if (view_ == nullptr) {
      parts_ = around_denials(input_.rules, input_.facts);
      out_.not_listable = std::move(parts_.split);
      places.reserve(parts_.rules.size());
      for (const auto& rule : parts_.rules) places.push_back({&rule.path, &rule});
      return places;
    }
    std::vector<Place> own;
    for (const auto& step : view_->mounts)
      if (step.op == MountOp::tmpfs && !step.target.is_root()) own.push_back({&step.target});
    places.reserve(own.size() + input_.rules.rules().size());
    auto next = own.begin();
    for (const auto& rule : input_.rules.rules()) {
      for (; next != own.end() && *next->path <= rule.path; ++next) places.push_back(*next);
      places.push_back({&rule.path, &rule});
    }
    places.insert(places.end(), next, own.end());
    return places;
  }

  void add(Grant grant) {
    const auto carried = [&](const LandlockRight& right) {
      const bool fits = right.for_files || grant.what == PathKind::directory;
      const bool runs = right.name != "execute" || grant.what != PathKind::device;
      return right.since <= abi_ && fits && runs && holds(grant.kinds, right.kind);
    };
    const auto count = std::ranges::count_if(rights, carried);
    if (count == 0) return;
    LandlockRule rule{.path = std::move(grant.path), .note = std::move(grant.note)};
    rule.access.reserve(static_cast<std::size_t>(count));
    for (const auto& right : rights)
      if (carried(right)) rule.access.emplace_back(right.name);
    out_.plan.rules.push_back(std::move(rule));
  }

  void add_exactly(std::string_view path, std::initializer_list<std::string_view> names, std::string note) {
    LandlockRule rule{.path = AbsPath::of(path), .note = std::move(note)};
    for (const auto& right : rights)
      if (right.since <= abi_ && std::find(names.begin(), names.end(), right.name) != names.end()) rule.access.emplace_back(right.name);
    out_.plan.rules.push_back(std::move(rule));
  }

  // Rights reach what is mounted beneath: where the policy withholds deleting there, it is withheld
  // in the private place around it as well.
  void add_own(const AbsPath& path) {
    const bool remove = input_.rules.removes_allowed() || !holds_writable(path);
    add({.path = path, .kinds = RightKind::read | RightKind::write | (remove ? RightKind::remove : RightKind::never), .note = "private"});
    regions_.enter(path, {Access::none, Access::write});
  }

  bool holds_writable(const AbsPath& path) const {
    const auto& all = input_.rules.rules();
    auto rule = std::lower_bound(all.begin(), all.end(), path, [](const PathRule& a, const AbsPath& b) { return a.path < b; });
    for (; rule != all.end() && path.contains(rule->path); ++rule)
      if (rule->access == Access::write && rule->kind != PathKind::missing) return true;
    return false;
  }

  // Our own /proc and /dev replace whatever a rule says about the host's, except single devices.
  bool replaced_by_view(const PathRule& rule) const {
    return view_ != nullptr && (proc_.contains(rule.path) || rule.path.text() == "/dev");
  }

  bool is_link(const AbsPath& path) const {
    const auto it = input_.facts.paths.find(path.text());
    return it != input_.facts.paths.end() && it->second.link_target;
  }

  void add_rule(const PathRule& rule) {
    if (replaced_by_view(rule)) return;
    const auto* above = regions_.enclosing(rule.path);
    const Region around = above == nullptr ? Region{} : *above;
    if (rule.kind == PathKind::missing && rule.origin != Origin::device) {
      if (rule.access < Access::write && around.granted == Access::write && around.policy == Access::write)
        out_.absent_names.push_back(rule.path);
      return;
    }
    report_excess(rule, around);
    // What a link leads to has its own rule or none.
    if (rule.access > around.policy && !is_link(rule.path)) {
      const auto what = rule.origin == Origin::device ? PathKind::device : rule.kind;
      add({.path = rule.path, .kinds = kinds_of(rule), .what = what, .note = std::string(base::enum_name(rule.origin))});
    }
    regions_.enter(rule.path, {rule.access, std::max(rule.access, around.granted)});
  }

  void report_excess(const PathRule& rule, const Region& around) {
    const bool closed_anyway = rule.locked && around.granted == Access::read;
    if (rule.access == Access::none && around.policy > Access::none && !closed_anyway) {
      out_.denied_inside.push_back(rule);
      if (around.granted == Access::write) out_.denied_in_writable.push_back(rule.path);
    }
    if (rule.access == Access::read && around.granted == Access::write) out_.read_only_inside.push_back(rule.path);
  }

  RightKind kinds_of(const PathRule& rule) const {
    if (rule.access != Access::write) return RightKind::read;
    auto kinds = RightKind::read;
    const bool standard = rule.origin == Origin::device;
    if (standard || input_.rules.writes_allowed()) kinds = kinds | RightKind::write;
    if (!standard && input_.rules.removes_allowed()) kinds = kinds | RightKind::remove;
    // A terminal is no use without ioctl, nor is a device the operator opened for writing by name.
    const bool by_name = rule.kind == PathKind::device && !standard;
    return by_name || rule.path.text() == "/dev/tty" ? kinds | RightKind::device : kinds;
  }

  // Listing is allowed wherever the view shows something: it shows nothing but what is granted, and
  // people look around with "ls /".
  void add_view_devices() {
    if (input_.rules.access(AbsPath()) == Access::none) add_exactly("/", {"read_dir"}, "the view itself");
    add_exactly("/dev/pts", {"read_file", "write_file", "read_dir", "ioctl_dev"}, "private");
    add({.path = AbsPath::of("/dev/shm"), .kinds = RightKind::read | RightKind::write | RightKind::remove, .note = "private"});
    add_exactly("/proc", {"read_file", "read_dir"}, "own processes");
  }

  // Programs read /proc/self; a rule cannot name that alone, since it binds to one process. The
  // kernel's ptrace check keeps memory, environment and descriptors of outside processes closed.
  void add_host_proc() {
    const auto& denied = input_.policy.process_sandbox.read_deny_roots;
    const auto covers = [&](const AbsPath& root) { return root.contains(proc_); };
    if (input_.rules.access(proc_) != Access::none || std::any_of(denied.begin(), denied.end(), covers)) return;
    add_exactly("/proc", {"read_file", "read_dir"}, "process state");
  }

  void add_sockets() {
    for (const auto& socket : entries(input_.policy.process_sandbox.unix_sockets))
      if (input_.facts.exists(socket.path))
        add({.path = socket.path, .kinds = RightKind::socket, .what = PathKind::socket, .note = "unix_socket"});
  }

  const PlanInput& input_;
  const View* view_;
  int abi_;
  AbsPath proc_ = AbsPath::of("/proc");
  LandlockOutcome out_ = {};
  Parts parts_ = {};  // the rules to write where no view stands behind them
  Ancestors<Region> regions_ = {};
};

// ABI 4: TCP by port number only, any address. A command with a network of its own reaches nothing but the
// relay, and a port that is refused there is reported; one that Landlock refused would not be.
void plan_ports(const LandlockNeeds& needs, LandlockPlan& plan) {
  if (plan.abi >= 4 && (needs.reach == NetworkReach::none || needs.relay_only)) plan.handled_net = {"bind_tcp", "connect_tcp"};
}

}  // namespace

std::span<const LandlockRight> landlock_rights() { return rights; }

LandlockOutcome plan_landlock(const PlanInput& input, const LandlockNeeds& needs) {
  auto out = RuleWriter(input, needs.view).run();
  plan_ports(needs, out.plan);
  if (out.plan.abi >= 6) out.plan.scoped = {"abstract_unix_socket", "signal"};
  return out;
}

}  // namespace harn::plan
