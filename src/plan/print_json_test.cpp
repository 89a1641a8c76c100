// SPDX-License-Identifier: Apache-2.0
#include <random>

#include <gtest/gtest.h>

#include "plan/plan_fields.h"

namespace harn::plan {
namespace {

// ---- plans of every shape, filled from the same description ---------------------------------------

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t below(std::uint64_t limit) { return engine_() % limit; }
  std::uint64_t any() { return engine_() >> below(64); }

 private:
  std::mt19937_64 engine_;
};

template <class T>
void fill(Dice& dice, T& out);

void fill_one(Dice& dice, bool& out) { out = dice.below(2) == 0; }
void fill_one(Dice& dice, int& out) { out = static_cast<int>(dice.any()); }
template <std::unsigned_integral T>
void fill_one(Dice& dice, T& out) {
  out = static_cast<T>(dice.any());
}

void fill_one(Dice& dice, std::string& out) {
  static constexpr std::string_view pieces[] = {
      "a", "Z9", " ", "\"", "\\", "/", "\n", "\x7f", "ä", "日", "\xff", "\xc3", std::string_view("\0", 1)};
  out.clear();
  for (auto i = dice.below(5); i != 0; --i) out += pieces[dice.below(std::size(pieces))];
}

void fill_one(Dice& dice, AbsPath& out) {
  static constexpr std::string_view paths[] = {"/", "/usr/lib", "/home/me/a b", "C:/Users/me", "/tmp/\xfe", "/a\"b"};
  out = AbsPath::of(paths[dice.below(std::size(paths))]);
}

template <class E>
  requires std::is_enum_v<E>
void fill_one(Dice& dice, E& out) {
  out = base::EnumNames<E>::names[dice.below(base::EnumNames<E>::names.size())].first;
}

template <class T>
void fill_one(Dice& dice, std::optional<T>& out) {
  out.reset();
  if (dice.below(2) == 0) fill(dice, out.emplace());
}

template <class T>
void fill_one(Dice& dice, std::vector<T>& out) {
  out.resize(dice.below(4));
  for (auto& item : out) fill(dice, item);
}

template <class T, std::size_t N>
void fill_one(Dice& dice, std::array<T, N>& out) {
  for (auto& item : out) fill(dice, item);
}

template <class T>
void fill_one(Dice& dice, std::map<std::string, T>& out) {
  out.clear();
  for (auto i = dice.below(4); i != 0; --i) {
    std::string key;
    fill(dice, key);
    fill(dice, out[key]);
  }
}

void fill_one(Dice& dice, Confinement& out) {
  switch (dice.below(5)) {
    case 0: out = NoConfinement{}; break;
    case 1: fill(dice, out.emplace<LinuxConfinement>()); break;
    case 2: fill(dice, out.emplace<Wrapper>()); break;
    case 3: fill(dice, out.emplace<AppContainer>()); break;
    default: fill(dice, out.emplace<PledgeUnveil>()); break;
  }
}

template <Described T>
void fill_one(Dice& dice, T& out) {
  std::apply([&](const auto&... f) { (fill(dice, out.*(f.member)), ...); }, Fields<T>::list);
}

template <class T>
void fill(Dice& dice, T& out) {
  fill_one(dice, out);
}

TEST(PlanJson, EveryPlanComesBackExactly) {
  Dice dice(20240607);
  for (int round = 0; round < 150; ++round) {
    Plan plan;
    fill(dice, plan);
    const auto text = plan_to_json(plan, round % 3 - 1);
    const auto back = plan_from_json(text);
    ASSERT_TRUE(back) << describe(back.error()) << "\n" << text;
    ASSERT_EQ(*back, plan) << text;
    ASSERT_EQ(digest(*back), digest(plan));
  }
}

// Without the spaces between members, so that expectations do not depend on the printer's taste.
std::string squeezed(std::string_view text) {
  std::string out;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') inside = !inside;
    if (inside || (text[i] != ' ' && text[i] != '\n')) out += text[i];
    if (inside && text[i] == '\\') out += text[++i];
  }
  return out;
}

TEST(PlanJson, DefaultsAreLeftOutAndEveryDimensionIsNamed) {
  Plan plan;
  plan.argv = {"true"};
  plan.coverage[Dimension::reads] = {Enforcement::enforced, {"view"}, ""};
  const auto text = squeezed(plan_to_json(plan));
  EXPECT_TRUE(text.starts_with(R"({"format":"harn.plan.v1","route":"confined","backend":"noop","profile":"worktree",)"
                               R"("argv":["true"],"cwd":"/","confinement":{"kind":"none"},"coverage":{"dimensions":)"
                               R"({"reads":{"status":"enforced","layers":["view"]},"writes":{"status":"not_requested"},)"))
      << text;
  EXPECT_TRUE(text.ends_with(R"("env":{"status":"not_requested"}}}})")) << text;
}

TEST(PlanJson, NumbersPastTheSignedRangeAreHexadecimal) {
  Plan plan;
  plan.limits.rlimits = {{"nofile", ~std::uint64_t{0}, 9}};
  EXPECT_NE(squeezed(plan_to_json(plan)).find(R"({"name":"nofile","soft":"0xffffffffffffffff","hard":9})"), std::string::npos);
}

TEST(PlanJson, DigestSeesEveryChange) {
  Plan plan;
  plan.argv = {"make"};
  const auto before = digest(plan);
  EXPECT_EQ(before.size(), 5u + 24u);
  EXPECT_TRUE(before.starts_with("plan-"));
  auto changed = plan;
  changed.coverage[Dimension::network].status = Enforcement::degraded;
  EXPECT_NE(digest(changed), before);
  changed = plan;
  changed.env.variables["A"] = "";
  EXPECT_NE(digest(changed), before);
}

// ---- the reader refuses what the writer would not have written --------------------------------------

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

Plan small_plan() {
  Plan plan;
  plan.argv = {"make", "\xff"};
  plan.limits.rlimits = {{"cpu", 30, 31}};
  plan.env.variables = {{"\xfe", "1"}};
  plan.confinement = LinuxConfinement{.view = View{.namespaces = {"user"}, .mounts = {{.op = MountOp::tmpfs}}}};
  return plan;
}

TEST(PlanJson, BadTextIsRefusedByPlaceAndName) {
  struct Case {
    std::string_view from, to, where, message, hint;
  };
  const Case cases[] = {
      {R"("harn.plan.v1")", R"("harn.plan.v9")", "/format", "the plan has format 'harn.plan.v9', this version reads 'harn.plan.v1'",
       "make the plan again"},
      {R"("harn.plan.v1")", "7", "/format", "the plan has format an integer, this version reads 'harn.plan.v1'", "make the plan again"},
      {R"("format":"harn.plan.v1",)", "", "", "the member 'format' is missing", R"(a plan begins with "format": "harn.plan.v1")"},
      {R"("route")", R"("rute")", "", "the member 'rute' is not known here", "did you mean 'route'?"},
      {R"("backend":"noop",)", "", "", "the member 'backend' is missing", ""},
      {R"("confined")", R"("confind")", "/route", "'confind' is not a valid word here", "did you mean 'confined'?"},
      {R"("confined")", R"("x")", "/route", "'x' is not a valid word here", "use one of direct, confined, wasi, refused"},
      {R"("confined")", "true", "/route", "expected a word, got true or false", ""},
      {R"("cwd":"/")", R"("cwd":"a")", "/cwd", "the path 'a' is not absolute", "write it from the root, or with ~/"},
      {R"("soft":30)", R"("soft":-1)", "/limits/rlimits/0/soft", "the number -1 is out of range here", ""},
      {R"("soft":30)", R"("soft":"0xzz")", "/limits/rlimits/0/soft", "'0xzz' is not a 64-bit number", ""},
      {R"("soft":30)", R"("soft":"30")", "/limits/rlimits/0/soft", "expected an integer, got a string", ""},
      {R"("kind":"linux")", R"("kind":"linus")", "/confinement/kind", "'linus' is not a valid word here", "did you mean 'linux'?"},
      {R"("kind":"linux",)", "", "/confinement", "the member 'kind' is missing", ""},
      {R"("op":"tmpfs")", R"("op":"tmpfs","fille":true)", "/confinement/view/mounts/0", "the member 'fille' is not known here",
       "did you mean 'file'?"},
      {R"("no_new_privileges":true)", R"("no_new_privileges":1)", "/confinement/no_new_privileges",
       "expected true or false, got an integer", ""},
      {R"({"base64":"/w=="})", R"({"base64":"/w="})", "/argv/1/base64", "'/w=' is not base64", ""},
      {R"({"base64":"/w=="})", R"({"base64":"*w=="})", "/argv/1/base64", "'*w==' is not base64", ""},
      {R"({"base64":"/w=="})", R"({"base64":"===="})", "/argv/1/base64", "'====' is not base64", ""},
      {R"({"base64":"/w=="})", R"({"base63":"/w=="})", "/argv/1", "expected a string, got a table", ""},
      {R"("argv":["make",{"base64":"/w=="}])", R"("argv":0)", "/argv", "expected a list, got an integer", ""},
      {R"([{"base64":"/g=="},"1"])", R"([{"base64":"/g=="}])", "/env/variables", "expected a pair of key and value, got a list", ""},
      {R"([{"base64":"/g=="},"1"])", R"(["a","1"],["a","2"])", "/env/variables", "the key 'a' stands twice", ""},
      {R"([[{"base64":"/g=="},"1"]])", "1", "/env/variables", "expected an object, got an integer", ""},
      {R"("reads":{)", R"("readss":{)", "/coverage/dimensions", "the member 'readss' is not known here", "did you mean 'reads'?"},
      {R"("reads":{"status":"not_requested"})", R"("reads":1)", "/coverage/dimensions/reads", "expected an object, got an integer", ""},
  };
  const auto good = squeezed(plan_to_json(small_plan()));
  ASSERT_TRUE(plan_from_json(good));
  for (const auto& c : cases) {
    const auto got = plan_from_json(replaced(good, c.from, c.to));
    ASSERT_FALSE(got) << c.to;
    EXPECT_EQ(got.error(), (Error{.code = ErrorCode::protocol,
                                  .stage = Stage::parse,
                                  .message = std::string(c.message),
                                  .hint = std::string(c.hint),
                                  .where = std::string(c.where)}))
        << describe(got.error());
  }
}

TEST(PlanJson, OnlyAnObjectIsAPlan) {
  for (const auto* text : {"[]", "1", "null", "", "{"}) EXPECT_FALSE(plan_from_json(text)) << text;
  auto dimensions = replaced(squeezed(plan_to_json(Plan{})), R"("coverage":{"dimensions":{)", R"("coverage":{"dimensions":[],"gaps":[{)");
  EXPECT_FALSE(plan_from_json(dimensions));
}

}  // namespace
}  // namespace harn::plan
