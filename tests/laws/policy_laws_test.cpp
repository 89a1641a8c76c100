// SPDX-License-Identifier: Apache-2.0
// intersect() is the meet of a lattice. Each law over generated policies; a failing pair is shrunk
// before it is shown.
#include <gtest/gtest.h>

#include "harn/policy_text.h"
#include "policy/meet.h"
#include "policy/path_model.h"
#include "support/cases.h"
#include "support/generate.h"
#include "support/shrink.h"

namespace harn::test {
namespace {

const int cases = cases_of(10'000);

// Shrinks both sides of a failing pair and prints them.
void report(const Policy& a, const Policy& b, const std::function<bool(const Policy&, const Policy&)>& fails) {
  const auto small_a = shrink(a, [&](const Policy& p) { return fails(p, b); });
  const auto small_b = shrink(b, [&](const Policy& p) { return fails(small_a, p); });
  ADD_FAILURE() << "a = " << policy_to_json(small_a) << "\nb = " << policy_to_json(small_b)
                << "\na∩b = " << policy_to_json(policy::meet(small_a, small_b));
}

// Runs a law on `cases` pairs and stops at the first failure.
void hold_for_pairs(std::uint64_t seed, const std::function<bool(const Policy&, const Policy&)>& law) {
  Random random(seed);
  for (int i = 0; i < cases; ++i) {
    const auto a = random_policy(random);
    const auto b = random_policy(random);
    if (!law(a, b)) return report(a, b, [&](const Policy& x, const Policy& y) { return !law(x, y); });
  }
}

TEST(PolicyLaws, CanonicalFormIsStable) {
  hold_for_pairs(1, [](const Policy& a, const Policy&) { return canonical(canonical(a)) == canonical(a); });
}

TEST(PolicyLaws, IntersectIsIdempotent) {
  hold_for_pairs(2, [](const Policy& a, const Policy&) { return intersect(a, a).policy == canonical(a); });
}

TEST(PolicyLaws, IntersectIsCommutative) {
  hold_for_pairs(3, [](const Policy& a, const Policy& b) { return intersect(a, b).policy == intersect(b, a).policy; });
}

TEST(PolicyLaws, IntersectIsAssociative) {
  Random random(4);
  for (int i = 0; i < cases; ++i) {
    const auto a = random_policy(random);
    const auto b = random_policy(random);
    const auto c = random_policy(random);
    const auto law = [](const Policy& x, const Policy& y, const Policy& z) {
      return policy::meet(policy::meet(x, y), z) == policy::meet(x, policy::meet(y, z));
    };
    if (law(a, b, c)) continue;
    const auto small_a = shrink(a, [&](const Policy& p) { return !law(p, b, c); });
    const auto small_b = shrink(b, [&](const Policy& p) { return !law(small_a, p, c); });
    const auto small_c = shrink(c, [&](const Policy& p) { return !law(small_a, small_b, p); });
    FAIL() << "a = " << policy_to_json(small_a) << "\nb = " << policy_to_json(small_b) << "\nc = " << policy_to_json(small_c)
           << "\n(a∩b)∩c = " << policy_to_json(policy::meet(policy::meet(small_a, small_b), small_c))
           << "\na∩(b∩c) = " << policy_to_json(policy::meet(small_a, policy::meet(small_b, small_c)));
  }
}

TEST(PolicyLaws, TheIntersectionIsWithinBothSides) {
  hold_for_pairs(5, [](const Policy& a, const Policy& b) {
    const auto both = intersect(a, b).policy;
    return within(a, both).empty() && within(b, both).empty();
  });
}

TEST(PolicyLaws, WithinMeansTheIntersectionTakesNothing) {
  hold_for_pairs(6, [](const Policy& a, const Policy& b) {
    auto both = intersect(a, b).policy;
    both.env.set = canonical(b).env.set;  // values are data, not authority
    return within(a, b).empty() == (both == canonical(b));
  });
}

// Stronger than never-widens: at every path the meet means exactly the lesser of the two meanings,
// except that nothing can be re-opened for presets inside a denial.
TEST(PolicyLaws, TheMeetIsExactAtEveryPath) {
  const auto exact = [](const Policy& a, const Policy& b) {
    const auto met = policy::meet(a, b);
    const policy::PathModel x(a), y(b), both(met);
    HostFacts facts;
    facts.home = AbsPath::of("/home/u");
    auto paths = interesting_paths(a, facts);
    const auto more = interesting_paths(b, facts);
    paths.insert(paths.end(), more.begin(), more.end());
    for (const auto& path : paths) {
      auto want = policy::meet(x.value(path.text()), y.value(path.text()));
      const auto have = both.value(path.text());
      if (want.process == policy::Ruled::unruled && have.process == policy::Ruled::deny) want.process = policy::Ruled::deny;
      if (have != want) return false;
    }
    return true;
  };
  hold_for_pairs(7, exact);
}

// The same, on the compiled rules of a host: presets, credentials and protected names included.
TEST(PolicyLaws, CompiledRulesOfTheIntersectionNeverWiden) {
  Random hosts(8);
  for (const auto platform : {Platform::linux, Platform::macos, Platform::windows, Platform::openbsd}) {
    Random random(80);
    for (int i = 0; i < cases / 4; ++i) {
      const auto facts = random_facts(hosts, platform);
      const auto a = random_policy(random, platform);
      const auto b = random_policy(random, platform);
      const auto law = [&](const Policy& p, const Policy& q) {
        const auto mine = PathRules::for_processes(p, facts);
        const auto both = PathRules::for_processes(policy::meet(p, q), facts);
        const auto own = PathRules::for_file_operations(p, facts);
        const auto own_both = PathRules::for_file_operations(policy::meet(p, q), facts);
        for (const auto& path : interesting_paths(p, facts))
          for (const auto op : {FileOp::read, FileOp::write, FileOp::remove}) {
            if (both.decide(path, op).allowed && !mine.decide(path, op).allowed) return false;
            if (own_both.decide(path, op).allowed && !own.decide(path, op).allowed) return false;
          }
        return true;
      };
      if (!law(a, b)) return report(a, b, [&](const Policy& x, const Policy& y) { return !law(x, y); });
      if (!law(b, a)) return report(b, a, [&](const Policy& x, const Policy& y) { return !law(x, y); });
    }
  }
}

TEST(PolicyLaws, SameMeaningSameDigest) {
  hold_for_pairs(9, [](const Policy& a, const Policy& b) {
    if (digest(a) != digest(canonical(a))) return false;
    return (digest(a) == digest(b)) == (canonical(a) == canonical(b));
  });
}

TEST(PolicyLaws, TheReportNamesSomethingExactlyWhenASideLostSomething) {
  hold_for_pairs(10, [](const Policy& a, const Policy& b) {
    const auto result = intersect(a, b);
    for (const auto side : {Side::ceiling, Side::requested}) {
      auto mine = canonical(side == Side::ceiling ? a : b);
      mine.env.set = result.policy.env.set;
      const bool lost = mine != result.policy;
      const bool named =
          std::any_of(result.narrowing.begin(), result.narrowing.end(), [&](const auto& item) { return item.lost_by == side; });
      if (lost != named) return false;
    }
    return true;
  });
}

}  // namespace
}  // namespace harn::test
