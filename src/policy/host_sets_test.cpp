// SPDX-License-Identifier: Apache-2.0
// The algebra of host rules, by table and against a naive model that knows nothing of keys.
#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "policy/hosts.h"
#include "support/cases.h"

namespace harn::policy {
namespace {

using Rules = std::vector<HostRule>;

HostRule parsed(std::string_view text) {
  const auto rule = parse_host_rule(text);
  EXPECT_TRUE(rule) << text;
  return rule.value_or(HostRule{});
}

Rules rules_of(std::initializer_list<std::string_view> texts) {
  Rules rules;
  for (const auto text : texts) rules.push_back(parsed(text));
  return rules;
}

std::vector<std::string> texts_of(const Rules& rules) {
  std::vector<std::string> texts;
  for (const HostRule& rule : rules) texts.push_back(text_of(rule));
  return texts;
}

using Texts = std::vector<std::string>;

TEST(HostSets, CoverByMeaning) {
  struct Case {
    std::string_view wide = {};
    std::string_view narrow = {};
    bool expected = false;
  };
  for (const auto& [wide, narrow, expected] : std::vector<Case>{
           {"example.org", "example.org", true},
           {"example.org", "example.org:443", true},
           {"example.org:443", "example.org", false},
           {"example.org:443", "example.org:80", false},
           {"*.example.org", "a.example.org", true},
           {"*.example.org", "a.b.example.org:1", true},
           {"*.example.org", "example.org", false},
           {"*.example.org", "badexample.org", false},
           {"*.example.org", "*.example.org", true},
           {"*.example.org", "*.a.example.org", true},
           {"*.a.example.org", "*.example.org", false},
           {"a.example.org", "*.a.example.org", false},
           {"10.0.0.0/8", "10.1.2.3", true},
           {"10.0.0.0/8", "10.1.0.0/16:80", true},
           {"10.1.0.0/16", "10.0.0.0/8", false},
           {"10.0.0.0/8", "11.0.0.1", false},
           {"::/0", "2001:db8::1", true},
           {"::/0", "::ffff:10.0.0.1", false},
           {"0.0.0.0/0", "::ffff:10.0.0.1", true},
           {"0.0.0.0/0", "::1", false},
           {"0.0.0.0/0", "example.org", false},
       })
    EXPECT_EQ(covers(parsed(wide), parsed(narrow)), expected) << wide << " " << narrow;
}

TEST(HostSets, CanonicalFormKeepsExactlyTheWidestRules) {
  struct Case {
    Rules rules = {};
    Texts expected = {};
  };
  for (const auto& [rules, expected] : std::vector<Case>{
           {{}, {}},
           {rules_of({"b.org", "a.org", "a.org"}), {"a.org", "b.org"}},
           {rules_of({"a.org:80", "a.org", "a.org:443"}), {"a.org"}},
           {rules_of({"a.org:443", "a.org:80"}), {"a.org:80", "a.org:443"}},
           {rules_of({"x.example.org", "*.example.org", "example.org"}), {"*.example.org", "example.org"}},
           {rules_of({"x.example.org", "*.example.org:443"}), {"*.example.org:443", "x.example.org"}},
           {rules_of({"10.0.0.0/9", "10.128.0.0/9"}), {"10.0.0.0/8"}},
           {rules_of({"10.0.0.0/9", "10.128.0.0/9:443"}), {"10.0.0.0/8:443", "10.0.0.0/9"}},
           {rules_of({"10.0.0.0/9:80", "10.128.0.0/9:443"}), {"10.0.0.0/9:80", "10.128.0.0/9:443"}},
           {rules_of({"10.0.0.1", "10.0.0.2"}), {"10.0.0.1", "10.0.0.2"}},
           {rules_of({"10.0.0.0", "10.0.0.1", "10.0.0.2/31"}), {"10.0.0.0/30"}},
           {rules_of({"0.0.0.0/1", "128.0.0.0/1", "::/1", "8000::/1"}), {"0.0.0.0/0", "::/0"}},
           {{{"not a host", {}}, {"not a host", 80}, {"not a host!", 80}}, {"not a host", "not a host!:80"}},
       })
    EXPECT_EQ(texts_of(canonical_hosts(rules)), expected);
}

TEST(HostSets, MeetByMeaning) {
  struct Case {
    Rules a = {};
    Rules b = {};
    Texts expected = {};
  };
  for (const auto& [a, b, expected] : std::vector<Case>{
           {rules_of({"*.x.org"}), rules_of({"a.x.org"}), {"a.x.org"}},
           {rules_of({"*.x.org:443"}), rules_of({"a.x.org"}), {"a.x.org:443"}},
           {rules_of({"*.x.org"}), rules_of({"*.a.x.org:80", "x.org"}), {"*.a.x.org:80"}},
           {rules_of({"a.org"}), rules_of({"b.org"}), {}},
           {rules_of({"a.org:80"}), rules_of({"a.org:443"}), {}},
           {rules_of({"a.org:80", "a.org:443"}), rules_of({"a.org:443", "a.org:22"}), {"a.org:443"}},
           {rules_of({"10.0.0.0/8"}), rules_of({"10.1.0.0/16", "11.0.0.1"}), {"10.1.0.0/16"}},
           {rules_of({"10.0.0.0/8:443"}), rules_of({"10.1.2.3"}), {"10.1.2.3:443"}},
           {rules_of({"::/0"}), rules_of({"2001:db8::/32", "0.0.0.0/0"}), {"2001:db8::/32"}},
           {rules_of({"a.org"}), {}, {}},
       }) {
    EXPECT_EQ(texts_of(meet_hosts(a, b)), expected);
    EXPECT_EQ(texts_of(meet_hosts(b, a)), expected);
  }
}

TEST(HostSets, NameEveryUncoveredRule) {
  const Rules ceiling = rules_of({"*.x.org:443", "10.0.0.0/9", "10.128.0.0/9", "y.org:80"});
  EXPECT_EQ(texts_of(uncovered_hosts(ceiling, rules_of({"a.x.org:443", "10.0.0.0/8", "10.1.2.3:22", "y.org:80"}))), Texts{});
  EXPECT_EQ(texts_of(uncovered_hosts(ceiling, rules_of({"a.x.org", "x.org:443", "10.0.0.0/7", "y.org:81", "y.org:80"}))),
            (Texts{"10.0.0.0/7", "a.x.org", "x.org:443", "y.org:81"}));
}

TEST(HostSets, AdmitOneDestinationOnly) {
  const Rules rules = rules_of({"*.x.org:443", "10.0.0.0/8", "[2001:db8::/32]:443"});
  EXPECT_TRUE(admits(rules, "A.x.org.", 443));
  EXPECT_FALSE(admits(rules, "a.x.org", 80));
  EXPECT_FALSE(admits(rules, "x.org", 443));
  EXPECT_TRUE(admits(rules, "10.9.9.9", 1));
  EXPECT_TRUE(admits(rules, "::ffff:10.9.9.9", 1));
  EXPECT_TRUE(admits(rules, "[2001:db8::1]", 443));
  EXPECT_FALSE(admits(rules, "0x0a.1", 1));
  EXPECT_FALSE(admits(rules, "10.0.0.0/16", 1));
  EXPECT_FALSE(admits(rules, "*.a.x.org", 443));
  EXPECT_FALSE(admits(rules, std::string_view("a\0.x.org", 8), 443));
}

// ---- against a naive model ---------------------------------------------------------------------

constexpr std::uint16_t other_port = 9;
const std::vector<std::uint16_t> ports{80, 443, other_port};

struct Destination {
  std::string name = {};  // empty for an address
  bool v6 = false;
  unsigned address = 0;  // 10.0.0.N or 2001:db8::N
  std::uint16_t port = 0;
};

std::vector<Destination> universe() {
  std::vector<Destination> all;
  for (const std::uint16_t port : ports) {
    for (const char* name : {"x.org", "a.x.org", "q.x.org", "b.a.x.org", "q.a.x.org", "q.b.a.x.org", "y.org", "q.y.org"})
      all.push_back({name, false, 0, port});
    for (unsigned n = 0; n < 16; ++n) {
      all.push_back({"", false, n, port});
      all.push_back({"", true, n, port});
    }
  }
  return all;
}

// A rule as the generator made it, so that the model never looks at rule text.
struct Sample {
  HostRule rule = {};
  std::string name = {};
  bool wildcard = false;
  bool v6 = false;
  unsigned first = 0;
  unsigned count = 0;  // 0 for names

  bool admits(const Destination& d) const {
    if (rule.port && *rule.port != d.port) return false;
    if (count > 0) return d.name.empty() && d.v6 == v6 && d.address >= first && d.address < first + count;
    if (d.name.empty()) return false;
    return wildcard ? d.name.size() > name.size() + 1 && d.name.ends_with("." + name) : d.name == name;
  }
};

using Samples = std::vector<Sample>;

class Generator {
 public:
  Samples list() {
    Samples samples;
    for (unsigned i = pick(6); i > 0; --i) samples.push_back(pick(2) == 0 ? name() : block());
    return samples;
  }

 private:
  unsigned pick(unsigned below) { return std::uniform_int_distribution<unsigned>(0, below - 1)(random_); }
  std::optional<std::uint16_t> port() {
    const unsigned choice = pick(4);
    return choice < 2 ? std::nullopt : std::optional(ports[choice - 2]);
  }
  Sample name() {
    static const std::vector<std::string> names{"x.org", "a.x.org", "b.a.x.org", "y.org"};
    Sample sample{.name = names[pick(4)], .wildcard = pick(2) == 0};
    sample.rule = {(sample.wildcard ? "*." : "") + sample.name, port()};
    return sample;
  }
  Sample block() {
    const unsigned free_bits = pick(4);
    const unsigned count = 1u << free_bits;
    Sample sample{.v6 = pick(4) == 0, .first = pick(16) / count * count, .count = count};
    const std::string address = (sample.v6 ? "2001:db8::" : "10.0.0.");
    const std::string digits = sample.v6 ? std::string(1, "0123456789abcdef"[sample.first]) : std::to_string(sample.first);
    const std::string length = "/" + std::to_string((sample.v6 ? 128u : 32u) - free_bits);
    sample.rule = parsed(address + digits + length);
    sample.rule.port = port();
    return sample;
  }

  std::mt19937 random_{20260901};
};

Rules rules_of(const Samples& samples) {
  Rules rules;
  for (const Sample& sample : samples) rules.push_back(sample.rule);
  return rules;
}

bool any_admits(const Samples& samples, const Destination& d) {
  return std::any_of(samples.begin(), samples.end(), [&](const Sample& s) { return s.admits(d); });
}

std::string host_text(const Destination& d) {
  if (!d.name.empty()) return d.name;
  return d.v6 ? std::string("2001:db8::") + "0123456789abcdef"[d.address] : "10.0.0." + std::to_string(d.address);
}

TEST(HostSets, ObeyTheLawsOfAMeetOnTenThousandRandomLists) {
  Generator generator;
  for (int round = 0; round < test::cases_of(10'000); ++round) {
    const Rules a = rules_of(generator.list());
    const Rules b = rules_of(generator.list());
    const Rules c = rules_of(generator.list());
    const Rules ab = meet_hosts(a, b);
    ASSERT_EQ(meet_hosts(a, a), canonical_hosts(a)) << round;
    ASSERT_EQ(ab, meet_hosts(b, a)) << round;
    ASSERT_EQ(meet_hosts(ab, c), meet_hosts(a, meet_hosts(b, c))) << round;
    ASSERT_EQ(meet_hosts(ab, a), ab) << round;
    ASSERT_EQ(canonical_hosts(ab), ab) << round;
    ASSERT_EQ(uncovered_hosts(a, ab), Rules{}) << round;
    ASSERT_EQ(uncovered_hosts(a, b).empty(), ab == canonical_hosts(b)) << round;
  }
}

TEST(HostSets, AgreeWithANaiveModelAndHaveOneSpellingPerMeaning) {
  Generator generator;
  const auto destinations = universe();
  std::map<std::vector<bool>, Rules> spelling;
  for (int round = 0; round < test::cases_of(1'500); ++round) {
    const Samples a = generator.list();
    const Samples b = generator.list();
    const Rules met = meet_hosts(rules_of(a), rules_of(b));
    const Rules canonical = canonical_hosts(rules_of(a));
    std::vector<bool> meaning;
    for (const Destination& d : destinations) {
      const bool in_a = any_admits(a, d);
      ASSERT_EQ(admits(canonical, host_text(d), d.port), in_a) << round << " " << host_text(d);
      ASSERT_EQ(admits(met, host_text(d), d.port), in_a && any_admits(b, d)) << round << " " << host_text(d);
      meaning.push_back(in_a);
    }
    const auto [known, fresh] = spelling.emplace(meaning, canonical);
    ASSERT_EQ(texts_of(known->second), texts_of(canonical)) << round;
  }
}

TEST(HostSets, HandleTenThousandRulesWithoutComparingAllPairs) {
  Rules many;
  for (unsigned i = 0; i < 10'000; ++i) {
    many.push_back({"h" + std::to_string(i) + ".x.org", {}});
    many.push_back({"2001:db8::" + std::to_string(i % 10) + ":" + std::to_string(i / 10), {}});
  }
  const Rules canonical = canonical_hosts(many);
  EXPECT_EQ(meet_hosts(many, many), canonical);
  EXPECT_EQ(uncovered_hosts(canonical, many), Rules{});
}

}  // namespace
}  // namespace harn::policy
