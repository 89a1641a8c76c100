// SPDX-License-Identifier: Apache-2.0
// One decision, three languages: for generated policies and hosts, what the mounts, the Landlock rules and
// the supervisor of a plan allow is what PathRules::decide says, in both directions. The only way
// out is a gap that names the path, or an over-refusal that docs/backends/linux.md documents.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "plan/lower.h"
#include "policy/names.h"
#include "support/cases.h"
#include "support/generate.h"
#include "support/landlock_model.h"
#include "support/mount_model.h"
#include "support/supervisor_model.h"

namespace harn::test {
namespace {

const std::uint64_t cases = cases_of<std::uint64_t>(5'000);
constexpr FileOp all_ops[] = {FileOp::read, FileOp::list, FileOp::execute, FileOp::write, FileOp::remove};

struct Layers {
  std::string name;
  bool view;
  bool landlock;
  bool notify;
};
const Layers all_layers[] = {
    {"view", true, false, true}, {"landlock", false, true, false}, {"supervised", false, true, true}, {"both", true, true, true}};

// What the shared generator leaves out: links, listed directories, odd homes, whole-system grants.
void add_oddities(Random& random, Policy& policy, HostFacts& facts) {
  const auto link = [&](const char* at, const char* to, PathKind kind) {
    facts.paths[at] = {.kind = kind, .link_target = AbsPath::of(to)};
    facts.paths[to].kind = kind;
  };
  if (random.chance(50)) link("/bin", "/usr/bin", PathKind::directory);
  if (random.chance(50)) link("/lib", "/usr/lib", PathKind::directory);
  if (random.chance(15)) link("/home/u/.cargo", "/srv/cargo", PathKind::directory);
  if (random.chance(15)) link("/w/.vscode", random.chance(50) ? "/srv/a" : "/w/b", PathKind::directory);
  if (random.chance(15)) link("/w/.bashrc", random.chance(50) ? "/etc/rc" : "/root/rc", PathKind::file);
  if (random.chance(10)) link("/w/.git", "/srv/git", PathKind::directory);
  if (random.chance(10)) facts.home = AbsPath::of(random.chance(50) ? "/" : "/w");
  if (random.chance(5)) facts.home = AbsPath::of("/tmp/home");
  if (policy.read_only_roots && random.chance(10)) policy.read_only_roots->emplace_back();
  if (random.chance(4)) policy.workspace_roots->emplace_back();
  if (random.chance(10)) facts.linux.pid_namespaces = false;
  if (random.chance(5)) facts.linux.seccomp = false;
}

// Beneath something missing, or a file, nothing exists: real facts never say otherwise.
void make_consistent(const Policy& policy, HostFacts& facts) {
  for (const auto& path : paths_of_interest(policy, facts)) {
    for (auto above = path; !above.is_root();) {
      above = above.parent();
      const auto kind = facts.kind_of(above);
      if (kind != PathKind::missing && kind != PathKind::file) continue;
      facts.paths[path.text()] = {.kind = PathKind::missing};
      break;
    }
  }
}

void list_directories(Random& random, const PathRules& rules, HostFacts& facts) {
  for (const auto& directory : directories_to_list(rules)) {
    if (random.chance(30)) continue;
    auto& entries = facts.paths[directory.text()].entries.emplace();
    for (const auto* name : {"a", "b", "lib", "src", "x", "u", "p", ".config", "."}) entries.emplace_back(name);
    for (const auto& rule : rules.rules()) {
      const auto rest = directory.below(rule.path);
      if (!rest.empty() && rule.kind != PathKind::missing) entries.emplace_back(rest.substr(0, rest.find('/')));
    }
    std::sort(entries.begin(), entries.end());
    entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
    facts.paths[directory.text()].kind = PathKind::directory;
  }
}

struct World {
  Policy policy = {};
  HostFacts facts = {};
  PathRules rules = {};
  Plan plan = {};
  const LinuxConfinement& confinement() const { return std::get<LinuxConfinement>(plan.confinement); }
};

World make_world(std::uint64_t seed) {
  Random random(seed);
  World world;
  world.facts = random_facts(random, Platform::linux);
  world.policy = plannable_policy(random, world.facts);
  add_oddities(random, world.policy, world.facts);
  make_consistent(world.policy, world.facts);
  list_directories(random, PathRules::for_processes(world.policy, world.facts), world.facts);
  world.rules = PathRules::for_processes(world.policy, world.facts);
  return world;
}

void plan_with(const Layers& layers, std::uint64_t seed, World& world) {
  world.facts.linux.user_namespaces = layers.view;
  world.facts.linux.landlock_abi = layers.landlock ? 1 + static_cast<int>(seed % 9) : 0;
  world.facts.linux.seccomp_notify = layers.notify && world.facts.linux.seccomp;
  world.plan = {};
  const auto command = sample_command();
  const auto status =
      plan::lower_linux({.policy = world.policy, .command = command, .facts = world.facts, .rules = world.rules}, world.plan);
  ASSERT_TRUE(status) << status.error().message;
}

bool is_change(FileOp op) { return op == FileOp::write || op == FileOp::remove; }

// All layers must agree; each is asked once per path.
std::map<FileOp, bool> answers(const LinuxConfinement& confinement, const AbsPath& path) {
  const auto shown = confinement.view ? mount_access(*confinement.view, path) : Access::write;
  const bool busy = confinement.view && is_mount_point(*confinement.view, path);
  std::map<FileOp, bool> out;
  for (const auto op : all_ops) {
    const bool mounted = shown >= (is_change(op) ? Access::write : Access::read) && !(busy && op == FileOp::remove);
    const bool supervised = !confinement.supervisor || supervisor_allows(*confinement.supervisor, path, op);
    out[op] = mounted && supervised && (!confinement.landlock || landlock_allows(*confinement.landlock, path, op));
  }
  return out;
}

bool gap_names(const World& world, const AbsPath& path, FileOp op) {
  const bool changes = is_change(op);
  return std::ranges::any_of(world.plan.coverage.gaps, [&](const Gap& gap) {
    const bool about =
        changes ? gap.dimension == Dimension::writes : gap.dimension == Dimension::reads || gap.dimension == Dimension::credential_reads;
    return about && std::ranges::any_of(gap.paths, [&](const AbsPath& root) { return root.contains(path); });
  });
}

const PathFact* known(const World& world, const AbsPath& path) {
  const auto it = world.facts.paths.find(path.text());
  return it == world.facts.paths.end() ? nullptr : &it->second;
}

// Nothing can be asked about a path through a link or a file, in our own /proc and /dev, or at a
// socket, which no open() reaches.
bool has_no_meaning(const World& world, const AbsPath& path) {
  for (const auto* own : {"/proc", "/dev"})
    if (AbsPath::of(own).contains(path)) return true;
  for (const auto& socket : entries(world.policy.process_sandbox.unix_sockets))
    if (socket.path.contains(path)) return true;
  for (auto at = path; !at.is_root(); at = at.parent()) {
    const auto* fact = known(world, at);
    if (fact == nullptr) continue;
    if (fact->link_target || (at != path && fact->kind == PathKind::file)) return true;
  }
  return false;
}

// Landlock alone grants a readable region around a denial by the entries of the directories on the
// way: those themselves, and names not listed in them, stay closed.
bool lies_on_the_way(const World& world, const AbsPath& path) {
  const auto denied_beneath = [&](const AbsPath& directory) {
    return std::ranges::any_of(world.rules.rules(), [&](const PathRule& rule) {
      return rule.access == Access::none && rule.kind != PathKind::missing && rule.path != directory && directory.contains(rule.path);
    });
  };
  for (auto at = path;; at = at.parent()) {
    const auto* fact = known(world, at);
    if (fact != nullptr && fact->entries && denied_beneath(at)) {
      const auto rest = at.below(path);
      const auto& entries = *fact->entries;
      return rest.empty() || std::find(entries.begin(), entries.end(), rest.substr(0, rest.find('/'))) == entries.end();
    }
    if (at.is_root()) return false;
  }
}

bool refused_as_documented(const World& world, const AbsPath& path, FileOp op) {
  const auto* rule = world.rules.nearest(path);
  if (rule->kind == PathKind::missing) return true;  // nothing there to grant
  // A root itself cannot be removed: a mount is busy, and Landlock asks the directory above.
  if (op == FileOp::remove && rule->path == path) return true;
  if (op == FileOp::remove && world.confinement().view && is_mount_point(*world.confinement().view, path)) return true;
  if (op == FileOp::list && known(world, path) != nullptr && known(world, path)->kind != PathKind::directory) return true;
  return !world.confinement().view && rule->access == Access::read && lies_on_the_way(world, path);
}

// A denied name that does not exist holds nothing to read; creating it is another matter.
bool nothing_there(const World& world, const AbsPath& path, FileOp op) {
  const auto* rule = world.rules.nearest(path);
  return rule != nullptr && rule->kind == PathKind::missing && !is_change(op);
}

// Answers on which plan and policy agree, and those that needed an excuse.
struct Tally {
  int allowed = 0;
  int refused = 0;
  int gaps = 0;
  int documented = 0;
};

void judge(const World& world, const AbsPath& path, Tally& tally) {
  for (const auto& [op, actual] : answers(world.confinement(), path)) {
    const bool expected = world.rules.decide(path, op).allowed;
    if (expected == actual) {
      ++(expected ? tally.allowed : tally.refused);
      continue;
    }
    const bool excused = actual ? gap_names(world, path, op) || nothing_there(world, path, op) : refused_as_documented(world, path, op);
    ++(actual ? tally.gaps : tally.documented);
    EXPECT_TRUE(excused) << base::enum_name(op) << " " << path.text() << (actual ? " leaks" : " is refused") << "; the rule is "
                         << (world.rules.nearest(path) ? world.rules.nearest(path)->path.text() : "none");
  }
}

// A part of them per case keeps five thousand cases quick; the seed picks which.
std::vector<AbsPath> places_to_ask(const World& world, std::uint64_t seed) {
  Random random(seed);
  auto paths = interesting_paths(world.policy, world.facts);
  for (const auto& rule : world.rules.rules()) {
    paths.push_back(rule.path);
    paths.push_back(rule.path.parent());
    paths.push_back(rule.path.join("a"));
  }
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  std::erase_if(paths, [&](const AbsPath& path) { return random.chance(70) || has_no_meaning(world, path); });
  return paths;
}

void expect_rule_at(const World& world, const Gap& gap, const AbsPath& path) {
  const auto* rule = world.rules.nearest(path);
  const bool exact = rule != nullptr && rule->path == path && (rule->access == Access::write) == (gap.code == "delete_not_separable");
  EXPECT_TRUE(exact) << gap.code << " " << path.text();
}

// A gap excuses what lies beneath its paths, so those must be exactly the places that deviate.
void expect_gaps_are_exact(const World& world) {
  for (const auto& gap : world.plan.coverage.gaps) {
    if (gap.dimension > Dimension::credential_reads || gap.code == "protected_link") continue;
    for (const auto& path : gap.paths) expect_rule_at(world, gap, path);
  }
}

void expect_kernel_accepts(const World& world) {
  const auto& confinement = world.confinement();
  if (confinement.view) {
    EXPECT_EQ(mount_faults(*confinement.view, world.facts), std::vector<std::string>{});
    EXPECT_EQ(unpinned_places(*confinement.view), std::vector<AbsPath>{});
  }
  if (confinement.landlock) {
    EXPECT_EQ(landlock_faults(*confinement.landlock, world.facts), std::vector<std::string>{});
  }
}

void judge_all(const World& world, const std::vector<AbsPath>& paths, Tally& tally) {
  if (!std::holds_alternative<LinuxConfinement>(world.plan.confinement)) return;  // planning failed and said so
  expect_kernel_accepts(world);
  expect_gaps_are_exact(world);
  for (const auto& path : paths) judge(world, path, tally);
}

// Excuses that cover everything would make the law empty.
void expect_substance(const std::string& name, const Tally& tally) {
  const int enough = 100 * static_cast<int>(cases);
  EXPECT_GT(tally.allowed, enough) << name;
  EXPECT_GT(tally.refused, enough) << name;
  EXPECT_LT(tally.documented * 10, tally.allowed) << name;
  testing::Test::RecordProperty(name + "_gaps", tally.gaps);
  testing::Test::RecordProperty(name + "_documented", tally.documented);
}

TEST(LinuxAgreement, PlansAllowExactlyWhatDecideSaysInStepsAKernelAccepts) {
  std::map<std::string, Tally> tallies;
  for (std::uint64_t seed = 1; seed <= cases; ++seed) {
    auto world = make_world(seed);
    const auto paths = places_to_ask(world, seed);
    for (const auto& layers : all_layers) {
      plan_with(layers, seed, world);
      judge_all(world, paths, tallies[layers.name]);
      ASSERT_FALSE(HasFailure()) << "seed " << seed << ", " << layers.name;
    }
  }
  for (const auto& [name, tally] : tallies) expect_substance(name, tally);
}

}  // namespace
}  // namespace harn::test
