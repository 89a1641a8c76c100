// SPDX-License-Identifier: Apache-2.0
// What bubblewrap, firejail and the container engines are told agrees with decide(): at every path
// the command line, read back the way those programs read it, gives exactly the policy's access, or
// the path lies at or beneath a gap the plan names.
#include <gtest/gtest.h>

#include <algorithm>

#include "harn/policy_text.h"
#include "plan/lower.h"
#include "plan/wrappers/container_mounts.h"
#include "policy/names.h"
#include "policy/path_model.h"
#include "policy/presets.h"
#include "support/argv_mounts.h"
#include "support/cases.h"
#include "support/generate.h"
#include "support/shrink.h"

namespace harn::test {
namespace {

const int cases = cases_of(3'000);

struct Wrapped {
  plan::Lower lower = nullptr;
  Understood (*understand)(const std::vector<std::string>&, const HostFacts&) = nullptr;
  // Where the policy opens something the wrapper leaves closed by design.
  bool (*closed_by_design)(const PathRule& rule) = nullptr;
  bool shows_top_names = false;  // the names in "/" and "/usr", nothing behind them
};

bool nothing(const PathRule&) { return false; }

// The image brings its own system.
bool from_the_image(const PathRule& rule) {
  return rule.origin == Origin::preset || rule.origin == Origin::search_path || rule.origin == Origin::device;
}

// What a host looks like that somebody looked at: a merged /usr, and the names firejail needs.
HostFacts looked_at(HostFacts facts, Random& random) {
  facts.paths["/"] = {.kind = PathKind::directory,
                      .entries = {{"bin", "dev", "etc", "home", "opt", "proc", "run", "srv", "stray", "tmp", "usr", "var", "w"}}};
  facts.paths["/usr"] = {.kind = PathKind::directory, .entries = {{"a", "b", "bin", "c", "lib", "local", "src"}}};
  facts.paths["/bin"] = {.kind = PathKind::directory, .link_target = AbsPath::of("/usr/bin")};
  for (const auto* path : {"/w/a", "/w/b/c", "/home/u/p/.vscode", "/srv/lib"})
    if (random.chance(10)) facts.paths[path] = {.kind = PathKind::file};
  for (const auto* path : {"/w/a/b", "/srv/a", "/opt/src", "/w/.vscode"})
    if (random.chance(15)) facts.paths[path] = {.kind = PathKind::missing};
  for (const auto* path : {"/w/c", "/home/u/p/lib", "/srv/b", "/w/.git"})
    if (random.chance(10)) facts.paths[path] = {.kind = PathKind::directory, .link_target = AbsPath::of("/opt/src/real")};
  return facts;
}

bool is_link(const HostFacts& facts, const AbsPath& path) {
  const auto it = facts.paths.find(path.text());
  return it != facts.paths.end() && it->second.link_target.has_value();
}

bool beneath_link(const HostFacts& facts, const AbsPath& path) {
  for (auto at = path.parent(); !at.is_root(); at = at.parent())
    if (is_link(facts, at)) return true;
  return false;
}

bool lists(const PathFact& directory, std::string_view name) {
  return !directory.entries || std::find(directory.entries->begin(), directory.entries->end(), name) != directory.entries->end();
}

// Something beneath a file, a link or a missing name, or not among the names of a listed directory.
bool impossible(const HostFacts& facts, const AbsPath& path) {
  for (auto at = path; !at.is_root(); at = at.parent()) {
    const auto it = facts.paths.find(at.parent().text());
    if (it == facts.paths.end()) continue;
    if (it->second.kind != PathKind::directory || it->second.link_target || !lists(it->second, at.name())) return true;
  }
  return false;
}

// Most credentials and protected names are absent on any one host.
void thin_out(const Policy& policy, HostFacts& facts, Random& random) {
  const auto maybe_missing = [&](const AbsPath& path) {
    const bool spaced = path.text().find(' ') != std::string::npos;
    if (spaced || random.chance(85)) facts.paths.try_emplace(path.text(), PathFact{.kind = PathKind::missing});
  };
  for (const auto& credential : policy::credential_paths(facts)) maybe_missing(credential.path);
  for (const auto& root : policy::PathModel(policy).writable_roots())
    for (const auto& entry : policy::protected_names()) maybe_missing(root.join(entry.name));
}

// Facts and policy drawn apart contradict each other; a host cannot.
void reconcile(Policy& policy, HostFacts& facts) {
  auto& sandbox = policy.process_sandbox;
  for (auto* list : {&policy.workspace_roots, &policy.read_only_roots, &sandbox.read_roots, &sandbox.write_roots})
    if (*list) std::erase_if(**list, [&](const AbsPath& path) { return !facts.exists(path) || impossible(facts, path); });
  for (const auto& path : paths_of_interest(policy, facts))
    if (impossible(facts, path) && !beneath_link(facts, path)) facts.paths[path.text()] = {.kind = PathKind::missing};
}

bool excused(const Coverage& coverage, const AbsPath& path) {
  const auto contains = [&](const AbsPath& at) { return at.contains(path); };
  return std::any_of(coverage.gaps.begin(), coverage.gaps.end(), [&](const Gap& gap) {
    return gap.dimension == Dimension::writes && std::any_of(gap.paths.begin(), gap.paths.end(), contains);
  });
}

struct Judged {
  const Wrapped& wrapped;
  const HostFacts& facts;
  const PathRules& rules;
  const Plan& plan;
  Understood told = {};

  // Empty when the wrapper and the policy agree about the path.
  std::string at(const AbsPath& path) const {
    if (is_link(facts, path) || AbsPath::of("/dev").contains(path) || AbsPath::of("/proc").contains(path) || impossible(facts, path))
      return {};
    const auto* rule = rules.nearest(path);
    const auto want = rule == nullptr ? Access::none : rule->access;
    const auto have = told.access(path);
    if (wrapped.shows_top_names && (path.is_root() || path.text() == "/usr") && (have == Access::read || facts.uid != 0)) return {};
    // No gap excuses writing where not even the right to write is held.
    if (have == Access::write && !rules.writes_allowed()) return path.text() + " is writable under a policy without write_text";
    if (have == want || excused(plan.coverage, path)) return {};
    // Where nothing is, only creating something can be allowed or not.
    if (!facts.exists(path) && (want != Access::write || rule->path == path) && have != Access::write) return {};
    if (have == Access::none && rule != nullptr && wrapped.closed_by_design(*rule)) return {};
    return path.text() + " is " + std::string(base::enum_name(have)) + ", not " + std::string(base::enum_name(want));
  }
};

// Empty when everything agrees.
std::string disagreement(const Wrapped& wrapped, const Policy& policy, const HostFacts& facts) {
  const auto rules = PathRules::for_processes(policy, facts);
  const auto command = sample_command();
  Plan plan{.argv = command.argv, .cwd = facts.cwd};
  plan.env.variables = command.environment;
  if (!wrapped.lower({.policy = policy, .command = command, .facts = facts, .rules = rules}, plan)) return "refused";
  const Judged judged{wrapped, facts, rules, plan, wrapped.understand(std::get<Wrapper>(plan.confinement).argv, facts)};
  if (!judged.told.problems.empty()) return judged.told.problems.front();
  if (judged.told.command != command.argv) return "the command changed";
  for (const auto& path : interesting_paths(policy, facts))
    if (auto found = judged.at(path); !found.empty()) return found;
  return {};
}

void expect_agreement(const Wrapped& wrapped, std::uint64_t seed) {
  Random random(seed);
  int judged = 0;
  for (int tries = 0; judged < cases && tries < cases * 10; ++tries) {
    auto facts = looked_at(random_facts(random, Platform::linux), random);
    auto policy = plannable_policy(random, facts);
    thin_out(policy, facts, random);
    reconcile(policy, facts);
    const auto found = disagreement(wrapped, policy, facts);
    if (found == "refused") continue;
    ++judged;
    if (found.empty()) continue;
    const auto small = shrink(policy, [&](const Policy& candidate) {
      const auto still = disagreement(wrapped, candidate, facts);
      return !still.empty() && still != "refused";
    });
    FAIL() << "case " << tries << ": " << disagreement(wrapped, small, facts) << "\n" << policy_to_json(small);
  }
  EXPECT_EQ(judged, cases);
}

TEST(WrappersAgreement, BubblewrapGivesWhatThePolicySays) { expect_agreement({plan::lower_bubblewrap, understand_bwrap, nothing}, 11); }

TEST(WrappersAgreement, FirejailGivesWhatThePolicySays) {
  expect_agreement({plan::lower_firejail, understand_firejail, nothing, true}, 12);
}

TEST(WrappersAgreement, DockerGivesWhatThePolicySays) { expect_agreement({plan::lower_docker, understand_container, from_the_image}, 13); }

TEST(WrappersAgreement, PodmanGivesWhatThePolicySays) { expect_agreement({plan::lower_podman, understand_container, from_the_image}, 14); }

}  // namespace
}  // namespace harn::test
