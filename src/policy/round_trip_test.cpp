// SPDX-License-Identifier: Apache-2.0
// What policies look like as text, and that printing and reading again loses nothing.
#include <array>
#include <random>

#include <gtest/gtest.h>

#include "harn/policy_text.h"
#include "policy/names.h"

namespace harn {
namespace {

using std::chrono::milliseconds;

const TextContext context{.home = AbsPath::of("/home/me"), .file_name = "p"};

AbsPath path(std::string_view text) { return AbsPath::of(text); }

Policy from_toml(std::string_view text) {
  auto policy = parse_policy_toml(text, context);
  EXPECT_TRUE(policy) << text << "\n" << describe(policy.error());
  return policy.value_or(Policy{.recursion_limit = 4242});
}

Policy from_json(std::string_view text) {
  auto policy = parse_policy_json(text, context);
  EXPECT_TRUE(policy) << text << "\n" << describe(policy.error());
  return policy.value_or(Policy{.recursion_limit = 4242});
}

TEST(Print, SaysOnlyWhatIsSet) {
  EXPECT_EQ(policy_to_json(Policy{}), "{}");
  EXPECT_EQ(policy_to_toml(Policy{}), "");
  Policy policy;
  policy.side_effect_level = SideEffectLevel::network;
  policy.network = Network{.allowed_hosts = {{.host = "x.org", .port = {}}}};
  policy.process_sandbox.unix_sockets = {{path("/s"), true}};
  policy.limits.wall_time = milliseconds(1500);
  policy.env.set = {{"A.B", "tab\t\x7F\"q\""}};
  EXPECT_EQ(policy_to_json(policy, -1),
            R"({"side_effect_level": "network", "process_sandbox": {"unix_sockets": [{"path": "/s", "allow_dangerous": true}]}, )"
            R"("network": {"mode": "limited", "allowed_hosts": ["x.org"]}, "limits": {"wall_time": "1500ms"}, )"
            "\"env\": {\"set\": {\"A.B\": \"tab\\t\x7F\\\"q\\\"\"}}}");
  EXPECT_EQ(policy_to_toml(policy), R"(side_effect_level = "network"

[process_sandbox]
unix_sockets = [{path = "/s", allow_dangerous = true}]

[network]
mode = "limited"
allowed_hosts = ["x.org"]

[limits]
wall_time = "1500ms"

[env.set]
"A.B" = "tab\t\u007f\"q\""
)");
}

TEST(Print, BreaksLongTomlLists) {
  Policy policy;
  policy.read_only_roots = {path("/" + std::string(60, 'a')), path("/" + std::string(60, 'b'))};
  EXPECT_EQ(policy_to_toml(policy), "read_only_roots = [\n  \"/" + std::string(60, 'a') + "\",\n  \"/" + std::string(60, 'b') + "\",\n]\n");
}

TEST(Print, MakesBytesThatAreNotUtf8UnreadableInsteadOfWrong) {
  Policy policy;
  policy.read_only_roots = {path("/\xFF")};
  EXPECT_FALSE(parse_policy_json(policy_to_json(policy), context));
  EXPECT_FALSE(parse_policy_toml(policy_to_toml(policy), context));
}

TEST(Print, CanonicalFormOmitsDefaultsAndSorts) {
  EXPECT_EQ(canonical_policy_json(from_json(R"({"sandbox_profile": "worktree", "capabilities": {"process": ["exec"],
      "workspace": ["delete", "write_text", "exists", "list", "read_text"]}, "network": {"mode": "limited"}})")),
            "{}");
  EXPECT_EQ(canonical_policy_json(from_toml("recursion_limit = 3\nblocked_commands = ['é', 'a']\nenv.set.B = '1'\nenv.set.A = '2'")),
            R"({"blocked_commands":["a","\u00e9"],"env":{"set":{"A":"2","B":"1"}},"recursion_limit":3})");
}

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  Policy policy() {
    Policy out;
    if (coin()) out.sandbox_profile = word<Profile>();
    if (coin()) out.side_effect_level = word<SideEffectLevel>();
    if (coin()) out.capabilities = Capabilities{.workspace = words<WorkspaceOp>(), .process = words<ProcessOp>()};
    if (coin()) out.workspace_roots = paths();
    if (coin()) out.read_only_roots = paths();
    if (coin()) out.unprotect = paths();
    out.process_sandbox = process_sandbox();
    if (coin()) out.network = network(out.level() == SideEffectLevel::network);
    out.limits = limits();
    out.env = {.mode = {}, .set = {}, .remove = names(), .passthrough = {}, .strip = names()};
    if (coin()) out.env.mode = word<EnvMode>();
    if (coin()) out.env.passthrough = names();
    for (const auto& name : names()) out.env.set[name] = text();
    for (auto i = pick(3); i > 0; --i) out.blocked_commands.insert("x" + text());
    if (coin()) out.recursion_limit = random_();
    return out;
  }

 private:
  std::size_t pick(std::size_t count) { return random_() % count; }
  bool coin() { return pick(2) == 0; }
  template <class E>
  E word() {
    return base::EnumNames<E>::names[pick(base::EnumNames<E>::names.size())].first;
  }
  template <class E>
  std::set<E> words() {
    std::set<E> out;
    for (auto i = pick(4); i > 0; --i) out.insert(word<E>());
    return out;
  }
  std::string text() {
    static constexpr std::array<std::string_view, 12> parts{"a", "B", ".", "\"", "\\", "\n", "\t", "é", "😀", "\x01", "\x7F", " '#"};
    std::string out;
    for (auto i = pick(6); i > 0; --i) out += parts[pick(parts.size())];
    return out;
  }
  std::set<std::string> names() {
    std::set<std::string> out;
    for (auto i = pick(3); i > 0; --i) out.insert("N" + text());
    return out;
  }
  std::vector<AbsPath> paths() {
    std::vector<AbsPath> out;
    for (auto i = pick(4); i > 0; --i) out.push_back(path((coin() ? "/x" : "C:/x") + text() + "/" + text() + "y"));
    return out;
  }
  ProcessSandbox process_sandbox() {
    ProcessSandbox out;
    if (coin()) out.presets = words<Preset>();
    if (coin()) out.package_tokens = coin();
    if (coin()) out.read_roots = paths();
    if (coin()) out.write_roots = paths();
    out.read_deny_roots = paths();
    if (coin()) out.unix_sockets.emplace();
    if (out.unix_sockets)
      for (const auto& socket : paths()) out.unix_sockets->push_back({socket, coin()});
    if (coin()) out.credentials = paths();
    return out;
  }
  Network network(bool reachable) {
    Network out;
    if (reachable && coin()) out.mode = NetworkMode::unrestricted;
    if (reachable && out.mode == NetworkMode::limited)
      out.allowed_hosts = {{.host = "a.org", .port = {}}, {.host = "*.b.org", .port = 443}};
    out.loopback = coin();
    for (auto i = pick(3); i > 0; --i) out.blocked_ports.insert(static_cast<std::uint16_t>(1 + pick(65535)));
    return out;
  }
  std::optional<std::uint64_t> count(std::size_t most) { return coin() ? std::optional<std::uint64_t>(1 + pick(most)) : std::nullopt; }
  std::optional<milliseconds> duration() {
    static constexpr std::array<std::int64_t, 4> units{1, 1000, 60'000, 3'600'000};
    return coin() ? std::optional(milliseconds(static_cast<std::int64_t>(1 + pick(8000)) * units[pick(units.size())])) : std::nullopt;
  }
  Limits limits() {
    return {.max_memory_mb = count(1 << 30),
            .max_cpu_seconds = count(1000),
            .max_processes = count(1 << 22),
            .max_file_size_mb = count(1 << 30),
            .max_output_bytes = count(std::size_t{1} << 31),
            .max_open_files = count(1 << 30),
            .cpu_milli = count(4'096'000),
            .wall_time = duration(),
            .idle_timeout = duration()};
  }

  std::mt19937 random_;
};

TEST(RoundTrip, EveryPolicySurvivesBothFormats) {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    const Policy policy = Generator(seed).policy();
    ASSERT_EQ(from_json(policy_to_json(policy)), policy) << seed << "\n" << policy_to_json(policy);
    ASSERT_EQ(from_json(policy_to_json(policy, -1)), policy) << seed;
    ASSERT_EQ(from_toml(policy_to_toml(policy)), policy) << seed << "\n" << policy_to_toml(policy);
  }
}

TEST(RoundTrip, TenThousandRootsStayFast) {
  Policy policy;
  policy.read_only_roots.emplace();
  for (int i = 0; i < 10'000; ++i) policy.read_only_roots->push_back(path("/data/" + std::to_string(i)));
  EXPECT_EQ(from_json(policy_to_json(policy)), policy);
  EXPECT_EQ(from_toml(policy_to_toml(policy)), policy);
}

}  // namespace
}  // namespace harn
