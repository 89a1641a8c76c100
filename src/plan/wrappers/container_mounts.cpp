// SPDX-License-Identifier: Apache-2.0
#include "plan/wrappers/container_mounts.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "plan/linux/ancestors.h"
#include "plan/linux/dangerous_sockets.h"
#include "plan/wrappers/links.h"
#include "plan/wrappers/wrapper_coverage.h"
#include "policy/names.h"
#include "policy/presets.h"

namespace harn::plan {
namespace {

// Mounting one of these, or anything inside, replaces parts of the image or hands over the kernel.
constexpr std::array closed_trees{"/.harn", "/bin", "/boot",    "/dev",     "/lib",       "/lib32",     "/lib64",      "/libx32",  "/proc",
                                  "/sbin",  "/sys", "/usr/bin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32", "/usr/sbin"};
// These are refused only as a whole: a project may well live in /var/tmp, /usr/src or /root/project.
constexpr std::array closed_directories{"/", "/etc", "/root", "/run", "/usr", "/var"};

bool is_system(const AbsPath& path) {
  return std::any_of(closed_directories.begin(), closed_directories.end(), [&](const char* text) { return path.text() == text; }) ||
         std::any_of(closed_trees.begin(), closed_trees.end(), [&](const char* text) { return AbsPath::of(text).contains(path); });
}

Status refuse_system(const PathRule& rule) {
  if (!is_system(rule.path)) return {};
  return fail(cannot_express("the system directory " + base::quoted(rule.path.text()) + " (" + std::string(base::enum_name(rule.origin)) +
                                 ") cannot be mounted into a container",
                             "name a directory inside it, or use the linux backend"));
}

// A daemon socket inside a granted directory is as good as the daemon itself.
Status refuse_daemon_sockets(const PlanInput& input) {
  std::set<AbsPath> allowed;
  for (const auto& socket : entries(input.policy.process_sandbox.unix_sockets))
    if (socket.allow_dangerous) allowed.insert(socket.path);
  for (const auto& [text, fact] : input.facts.paths) {
    if (fact.kind != PathKind::socket) continue;
    const auto path = AbsPath::of(text);
    if (input.rules.access(path) == Access::none || allowed.contains(path)) continue;
    const auto danger = danger_of(path);
    if (danger.empty()) continue;
    return fail(cannot_express(base::quoted(text) + " inside a granted directory controls " + std::string(danger),
                               "grant a directory without it, or name it in unix_sockets with allow_dangerous = true"));
  }
  return {};
}

struct Enclosing {
  Access access = Access::none;
  std::size_t step = 0;
};

class MountList {
 public:
  explicit MountList(const PlanInput& input) : rules_(input.rules), facts_(input.facts) {}

  Status add(const PathRule& rule) {
    const auto access = mounted_access(rules_, rule);
    const auto* around = mounted_.enclosing(rule.path);
    if (around == nullptr && access == Access::none) return {};
    if (around != nullptr && around->access == access) return {};
    if (rule.kind == PathKind::missing) {
      if (around != nullptr && around->access == Access::write) out_.absent.push_back(rule.path);
      return {};
    }
    if (auto link = link_below(facts_, around == nullptr ? AbsPath{} : mounted_.place(), rule.path))
      return leave(rule, std::move(*link), around);
    HARN_OK(access == Access::none ? Status{} : refuse_system(rule));
    if (around != nullptr) settle_into(*around, rule.path, access);
    mounted_.enter(rule.path, {access, out_.steps.size()});
    out_.steps.push_back(step(rule, access));
    return {};
  }

  ContainerMounts take() && {
    const auto by_target = [](const MountStep& a, const MountStep& b) { return a.target < b.target; };
    std::sort(out_.steps.begin(), out_.steps.end(), by_target);
    return std::move(out_);
  }

 private:
  static MountStep step(const PathRule& rule, Access access) {
    const auto op = access == Access::write ? MountOp::bind : access == Access::read ? MountOp::bind_read : MountOp::hide;
    return {.op = op,
            .source = op == MountOp::hide ? std::string{} : rule.path.text(),
            .target = rule.path,
            .file = rule.kind != PathKind::directory,
            .note = std::string(base::enum_name(rule.origin))};
  }

  // The engine would follow the link; what it leads to has rules of its own.
  Status leave(const PathRule& rule, AbsPath link, const Enclosing* around) {
    if (around == nullptr && is_named(rule.origin)) return fail(behind_link(rule.path, link));
    if (around != nullptr && around->access == Access::write) out_.links.push_back(std::move(link));
    return {};
  }

  void settle_into(const Enclosing& around, const AbsPath& path, Access access) {
    if (around.access == Access::none) out_.steps[around.step].op = MountOp::tmpfs;  // must be passable
    if (around.access != Access::write || access == Access::write) return;
    // A directory above a mount point can be renamed away with everything in it, and a new one put
    // in its place. A mount point itself cannot: so each directory on the way becomes one.
    const auto& place = mounted_.place();
    for (auto at = path.parent(); at != place && pinned_.insert(at).second; at = at.parent())
      out_.steps.push_back({.op = MountOp::bind, .source = at.text(), .target = at, .note = "keeps its name"});
  }

  const PathRules& rules_;
  const HostFacts& facts_;
  Ancestors<Enclosing> mounted_ = {};
  std::set<AbsPath> pinned_ = {};
  ContainerMounts out_ = {};
};

}  // namespace

PathRules container_rules(Policy policy, const HostFacts& facts) {
  const bool tokens = policy.exposes_package_tokens();
  policy.process_sandbox.presets.emplace();
  auto exposed = entries(policy.process_sandbox.credentials);
  if (tokens)
    for (const auto& credential : policy::credential_paths(facts))
      if (credential.package_token) exposed.push_back(credential.path);
  policy.process_sandbox.credentials = std::move(exposed);
  return PathRules::for_processes(policy, facts);
}

Result<ContainerMounts> container_mounts(const PlanInput& input) {
  HARN_OK(refuse_daemon_sockets(input));
  MountList list(input);
  for (const auto& rule : input.rules.rules())
    if (rule.origin != Origin::device) HARN_OK(list.add(rule));
  return std::move(list).take();
}

}  // namespace harn::plan
