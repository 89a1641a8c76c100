// SPDX-License-Identifier: Apache-2.0
// The plans for macOS, Windows and OpenBSD, read back by models of those systems, grant exactly what
// decide() grants: at every path, or the path lies at or under one that the plan itself names as a gap.
#include <gtest/gtest.h>

#include <algorithm>

#include "plan/linux/network_reach.h"
#include "plan/lower.h"
#include "support/acl_model.h"
#include "support/cases.h"
#include "support/generate.h"
#include "support/macos_decided.h"
#include "support/sbpl.h"
#include "support/unveil_model.h"

namespace harn::test {
namespace {

const std::uint64_t wanted_plans = cases_of<std::uint64_t>(3'000);

struct Case {
  std::uint64_t seed = 0;
  HostFacts facts = {};
  Policy policy = {};
  PathRules rules = {};
  Plan plan = {};
};

Case generate(std::uint64_t seed, Platform platform) {
  Random random(seed);
  Case out;
  out.seed = seed;
  out.facts = random_facts(random, platform);
  out.policy = plannable_policy(random, out.facts);
  out.rules = PathRules::for_processes(out.policy, out.facts);
  out.plan.cwd = out.facts.cwd;
  return out;
}

Status lower(plan::Lower lowering, Case& test) {
  const auto command = sample_command();
  return lowering({.policy = test.policy, .command = command, .facts = test.facts, .rules = test.rules}, test.plan);
}

// A third of the paths, another third with each seed: many policies tell more than many paths.
std::vector<AbsPath> some_paths(const Case& test) {
  auto all = interesting_paths(test.policy, test.facts);
  std::vector<AbsPath> out;
  for (auto at = test.seed % 3; at < all.size(); at += 3) out.push_back(std::move(all[at]));
  return out;
}

PathVerdict decided(const PathRules& rules, const AbsPath& path) {
  return {.read = rules.decide(path, FileOp::read).allowed,
          .write = rules.decide(path, FileOp::write).allowed,
          .remove = rules.decide(path, FileOp::remove).allowed};
}

bool named_as_gap(const Coverage& coverage, const AbsPath& path, bool about_reads) {
  return std::any_of(coverage.gaps.begin(), coverage.gaps.end(), [&](const Gap& gap) {
    const bool reads = gap.dimension == Dimension::reads || gap.dimension == Dimension::credential_reads;
    if (about_reads ? !reads : gap.dimension != Dimension::writes) return false;
    return std::any_of(gap.paths.begin(), gap.paths.end(), [&](const AbsPath& root) { return root.contains(path); });
  });
}

// Absent, or beneath something that is no directory: a plan has nothing to grant there.
bool nothing_there(const HostFacts& facts, const AbsPath& path) {
  if (!facts.exists(path)) return true;
  for (auto at = path; !at.is_root();) {
    at = at.parent();
    if (facts.kind_of(at) != PathKind::directory) return true;
  }
  return false;
}

struct Tally {
  std::size_t agreed = 0;
  std::size_t excused = 0;
};

void compare(const Case& test, const AbsPath& path, const PathVerdict& expected, const PathVerdict& found, Tally& tally) {
  const bool may_be_less = nothing_there(test.facts, path);
  const auto fine = [&](bool wanted, bool got) { return wanted == got || (may_be_less && wanted); };
  const bool reads_agree = fine(expected.read, found.read);
  const bool writes_agree = fine(expected.write, found.write) && fine(expected.remove, found.remove);
  if (reads_agree && writes_agree) {
    ++tally.agreed;
    return;
  }
  const bool reads_fine = reads_agree || named_as_gap(test.plan.coverage, path, true);
  const bool writes_fine = writes_agree || named_as_gap(test.plan.coverage, path, false);
  ++tally.excused;
  EXPECT_TRUE(reads_fine && writes_fine) << path.text() << ": decided " << expected.read << expected.write << expected.remove
                                         << ", planned " << found.read << found.write << found.remove;
}

// ---- macOS -----------------------------------------------------------------------------------------

bool on_the_way_to_a_grant(const PathRules& rules, const std::string& path) {
  return std::any_of(rules.rules().begin(), rules.rules().end(), [&](const PathRule& rule) {
    if (rule.access == Access::none) return false;
    const auto names = spellings(rule.path.text());
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return name.starts_with(path + "/"); });
  });
}

SbplProfile profile_of(const Case& test) {
  std::string problem;
  auto profile = SbplProfile::parse(std::get<Wrapper>(test.plan.confinement).profile, problem);
  EXPECT_TRUE(profile) << problem;
  return profile.value_or(SbplProfile{});
}

TEST(ForeignAgreement, SeatbeltProfilesGrantWhatIsDecided) {
  Tally tally;
  for (std::uint64_t seed = 1; seed <= wanted_plans; ++seed) {
    auto test = generate(seed, Platform::macos);
    ASSERT_TRUE(lower(plan::lower_seatbelt, test)) << seed;
    const auto profile = profile_of(test);
    const auto guarded = guarded_places(test.rules);
    for (const auto& path : some_paths(test)) {
      if (path.is_root()) continue;  // the loader's directory listing is the one stated exception
      const auto expected = decided_on_macos(test.rules, guarded, path);
      for (const auto& name : spellings(path.text())) {
        compare(test, AbsPath::of(name), expected, verdict_at(profile, name), tally);
        const auto* rule = nearest_by_any_name(test.rules, path);
        if (tally.agreed % 4 != 0 || (rule != nullptr && rule->origin == Origin::device)) continue;  // never executed or linked
        EXPECT_EQ(profile.allows("process-exec", name), expected.read) << name;
        EXPECT_EQ(profile.allows("file-write-create", name), expected.write) << name;
        EXPECT_EQ(profile.allows("file-link", name), expected.write) << name;
      }
    }
    ASSERT_FALSE(HasFailure()) << "seed " << seed << "\n" << std::get<Wrapper>(test.plan.confinement).profile;
  }
  EXPECT_EQ(tally.excused, 0u) << "Seatbelt can say everything, so nothing may need an excuse";
}

TEST(ForeignAgreement, SeatbeltShowsMetadataOnlyOfWhatIsOpenAndTheWayThere) {
  for (std::uint64_t seed = 1; seed <= wanted_plans / 10; ++seed) {
    auto test = generate(seed, Platform::macos);
    ASSERT_TRUE(lower(plan::lower_seatbelt, test)) << seed;
    const auto profile = profile_of(test);
    const auto guarded = guarded_places(test.rules);
    for (const auto& path : some_paths(test)) {
      const auto& name = path.text();
      const bool link = name == "/" || name == "/etc" || name == "/tmp" || name == "/var" || name == "/private";
      const bool visible = link || decided_on_macos(test.rules, guarded, path).read || on_the_way_to_a_grant(test.rules, name);
      ASSERT_EQ(profile.allows("file-read-metadata", name), visible) << "seed " << seed << " " << name;
    }
  }
}

TEST(ForeignAgreement, SeatbeltNetworkFollowsThePolicy) {
  for (std::uint64_t seed = 1; seed <= wanted_plans / 3; ++seed) {
    auto test = generate(seed, Platform::macos);
    ASSERT_TRUE(lower(plan::lower_seatbelt, test)) << seed;
    const auto profile = profile_of(test);
    const auto network = test.policy.effective_network();
    const bool open = plan::network_reach(test.policy) == plan::NetworkReach::unrestricted;
    const auto out = [&](std::string remote) {
      return profile.allows(SbplAttempt{.operation = "network-outbound", .local = "localhost:50000", .remote = std::move(remote)});
    };
    for (const std::uint16_t port : {std::uint16_t{22}, std::uint16_t{443}, std::uint16_t{8080}})
      ASSERT_EQ(out("93.184.216.34:" + std::to_string(port)), open && !network.blocked_ports.contains(port)) << seed;
    ASSERT_EQ(out("localhost:8080"), open || network.loopback) << seed;
    const auto listens = [&](std::string local) {
      return profile.allows(SbplAttempt{.operation = "network-bind", .local = std::move(local)});
    };
    ASSERT_EQ(listens("localhost:8080"), open || network.loopback) << seed;
    ASSERT_EQ(listens("0.0.0.0:8080"), open) << seed;
    const auto calls = [&](std::string service) {
      return profile.allows(SbplAttempt{.operation = "mach-lookup", .name = std::move(service)});
    };
    ASSERT_EQ(calls("com.apple.dnssd.service"), open) << seed;
    ASSERT_FALSE(calls("com.apple.SecurityServer")) << seed;
    for (const auto* socket : {"/run/a.sock", "/run/b.sock", "/private/var/run/docker.sock"}) {
      const auto& listed = entries(test.policy.process_sandbox.unix_sockets);
      const bool expected = std::any_of(listed.begin(), listed.end(), [&](const UnixSocket& entry) { return entry.path.text() == socket; });
      ASSERT_EQ(profile.allows(SbplAttempt{.operation = "network-outbound", .socket = socket}), expected) << seed << socket;
    }
  }
}

// ---- Windows ---------------------------------------------------------------------------------------

TEST(ForeignAgreement, ContainerListsGrantWhatIsDecided) {
  Tally tally;
  for (std::uint64_t seed = 1; seed <= wanted_plans; ++seed) {
    auto test = generate(seed, Platform::windows);
    ASSERT_TRUE(lower(plan::lower_appcontainer, test)) << seed;
    const auto& container = std::get<AppContainer>(test.plan.confinement);
    const AclModel model(container, AbsPath::of("C:/"));
    auto paths = some_paths(test);
    paths.push_back(AbsPath::of("C:/Windows/System32"));
    for (const auto& path : paths) compare(test, path, decided(test.rules, path), model.at(path), tally);
    ASSERT_EQ(!container.capability_sids.empty(), plan::network_reach(test.policy) == plan::NetworkReach::unrestricted) << seed;
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  EXPECT_LT(tally.excused * 5, tally.agreed) << "most of a plan must hold without an excuse";
}

// ---- OpenBSD ---------------------------------------------------------------------------------------

TEST(ForeignAgreement, UnveilListsGrantWhatIsDecided) {
  Tally tally;
  std::uint64_t plans = 0;
  for (std::uint64_t seed = 1; plans < wanted_plans; ++seed) {
    ASSERT_LT(seed, wanted_plans * 4) << "too many policies do not fit the kernel's table to prove anything";
    auto test = generate(seed, Platform::openbsd);
    if (const auto status = lower(plan::lower_pledge_unveil, test); !status) {
      ASSERT_EQ(status.error().code, ErrorCode::not_supported) << seed;
      continue;
    }
    ++plans;
    const auto model = UnveilModel::load(std::get<PledgeUnveil>(test.plan.confinement), test.facts);
    ASSERT_TRUE(model) << "seed " << seed << ": the kernel would refuse this list";
    for (const auto& path : some_paths(test)) {
      auto found = model->at(path);
      // Nobody but root may remove what stands in /dev, whatever unveil says.
      const auto* rule = test.rules.nearest(path);
      if (test.facts.uid != 0 && rule != nullptr && rule->origin == Origin::device) found.remove = false;
      compare(test, path, decided(test.rules, path), found, tally);
    }
    ASSERT_EQ(model->reaches_hosts(), plan::network_reach(test.policy) == plan::NetworkReach::unrestricted) << seed;
    ASSERT_FALSE(model->lists_processes()) << seed;
    for (const auto* socket : {"/run/a.sock", "/run/docker.sock"}) {
      const auto& listed = entries(test.policy.process_sandbox.unix_sockets);
      const bool expected = std::any_of(listed.begin(), listed.end(), [&](const UnixSocket& entry) { return entry.path.text() == socket; });
      ASSERT_EQ(model->connects_to(AbsPath::of(socket)), expected) << seed << socket;
    }
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  EXPECT_LT(tally.excused * 5, tally.agreed) << "most of a plan must hold without an excuse";
}

}  // namespace
}  // namespace harn::test
