// SPDX-License-Identifier: Apache-2.0
#include "tape/compare.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "policy/member_table.h"
#include "policy/names.h"

namespace harn::tape {
namespace {

constexpr std::size_t told_at_most = 12;
constexpr std::size_t read_at_once = 1u << 20;

// Both sides, name by name; what is on one side only is said to be missing on the other.
struct Sides {
  std::vector<std::string> recorded = {};
  std::vector<std::string> now = {};

  void add(std::string was, std::string is) {
    recorded.push_back(std::move(was));
    now.push_back(std::move(is));
  }
  static std::string text(std::vector<std::string> parts) {
    if (parts.size() > told_at_most) {
      const auto more = parts.size() - told_at_most;
      parts.resize(told_at_most);
      parts.push_back(fmt::format("and {} more", more));
    }
    return base::join(parts, ", ");
  }
};

Sides variables(const RunRecord& recorded, const RunRecord& now, const ReplayRules& rules) {
  Sides out;
  std::set<std::string> names;
  for (const auto* side : {&recorded.env, &now.env})
    for (const auto& [name, digest] : *side) names.insert(name);
  const auto said = [](const std::map<std::string, std::string>& env, const std::string& name) {
    const auto found = env.find(name);
    return found == env.end() ? fmt::format("no {}", name) : fmt::format("{} ({})", name, found->second);
  };
  for (const auto& name : names) {
    if (rules.ignore_env.contains(name)) continue;
    auto was = said(recorded.env, name);
    auto is = said(now.env, name);
    if (was != is) out.add(std::move(was), std::move(is));
  }
  return out;
}

// The members of two policies that are not the same, leaf by leaf.
void add_members(const base::Value* recorded, const base::Value* now, const std::string& name, Sides& out) {
  const auto is_object = [](const base::Value* value) { return value != nullptr && value->is(base::ValueKind::object); };
  if (recorded != nullptr && now != nullptr && *recorded == *now) return;
  if (!is_object(recorded) && !is_object(now)) {
    const auto said = [&](const base::Value* value) { return value == nullptr ? "no " + name : name + " = " + base::print_json(*value); };
    return out.add(said(recorded), said(now));
  }
  std::set<std::string> names;
  for (const auto* side : {recorded, now})
    if (is_object(side))
      for (const auto& member : side->object()) names.insert(member.name);
  for (const auto& member : names)
    add_members(is_object(recorded) ? recorded->find(member) : nullptr, is_object(now) ? now->find(member) : nullptr,
                name.empty() ? member : name + "." + member, out);
}

Sides policies(const RunRecord& recorded, const RunRecord& now) {
  Sides out;
  out.add(recorded.policy_digest, now.policy_digest);
  if (recorded.profile != now.profile) out.add(std::string(base::enum_name(recorded.profile)), std::string(base::enum_name(now.profile)));
  const auto was = policy::policy_value(recorded.policy);
  const auto is = policy::policy_value(now.policy);
  add_members(&was, &is, "", out);
  return out;
}

}  // namespace

std::string input_text(const TapedInput& input) {
  return fmt::format("{} bytes{} with the hash {}", input.size, input.ended ? "" : " and perhaps more,", input.sha256);
}

std::string words_text(const std::vector<std::string>& argv) {
  std::vector<std::string> words;
  for (const auto& word : argv) words.push_back(base::shell_word(word));
  return base::join(words, " ");
}

std::vector<Divergence> compare(const RunRecord& recorded, const RunRecord& now, std::size_t exec, const ReplayRules& rules) {
  std::vector<Divergence> out;
  const auto add = [&](DivergenceKind kind, std::string was, std::string is) {
    if (!rules.ignore.contains(kind)) out.push_back({.kind = kind, .exec = exec, .recorded = std::move(was), .now = std::move(is)});
  };
  if (recorded.argv != now.argv) add(DivergenceKind::argv, words_text(recorded.argv), words_text(now.argv));
  if (recorded.cwd != now.cwd) add(DivergenceKind::cwd, recorded.cwd.text(), now.cwd.text());
  if (recorded.env != now.env) {
    const auto sides = variables(recorded, now, rules);
    if (!sides.recorded.empty()) add(DivergenceKind::env, Sides::text(sides.recorded), Sides::text(sides.now));
  }
  if (recorded.policy_digest != now.policy_digest) {
    const auto sides = policies(recorded, now);
    add(DivergenceKind::policy, Sides::text(sides.recorded), Sides::text(sides.now));
  }
  return out;
}

namespace {

// What comes in, hashed as far as somebody asked for it.
class Incoming {
 public:
  explicit Incoming(const InputSource& source) : source_(source) {}

  std::uint64_t read_to(std::uint64_t wanted) {
    while (source_ && !ended_ && sum_.size() < wanted) {
      const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(wanted - sum_.size(), read_at_once));
      const auto bytes = source_(most);
      sum_.add(bytes);
      ended_ = bytes.size() < most;
    }
    return sum_.size();
  }
  std::string hash() const { return sum_.hex(); }

 private:
  const InputSource& source_;
  base::Sha256 sum_ = {};
  bool ended_ = false;
};

}  // namespace

std::vector<bool> given_this(const std::vector<const RunRecord*>& recorded, const InputSource& input) {
  std::vector<std::size_t> by_size(recorded.size());
  std::iota(by_size.begin(), by_size.end(), std::size_t{0});
  std::ranges::sort(by_size, {}, [&](std::size_t i) { return recorded[i]->input.size; });
  std::vector<bool> out(recorded.size(), false);
  Incoming incoming(input);
  std::uint64_t size = 0;
  auto hash = incoming.hash();  // of the first `size` bytes
  for (const auto i : by_size) {
    const auto& was = recorded[i]->input;
    if (was.size != size) {
      if (incoming.read_to(was.size) != was.size) break;  // shorter than this one and all that follow
      size = was.size;
      hash = incoming.hash();
    }
    // One byte more tells whether it ends where the recorded one did.
    out[i] = hash == was.sha256 && (!was.ended || incoming.read_to(size + 1) == size);
  }
  return out;
}

std::vector<Divergence> compare_input(const RunRecord& recorded, const InputSource& input, std::size_t exec) {
  const auto& was = recorded.input;
  Incoming incoming(input);
  const auto size = incoming.read_to(was.size);
  const auto hash = incoming.hash();
  const bool more = was.ended && incoming.read_to(was.size + 1) > was.size;
  if (size == was.size && hash == was.sha256 && !more) return {};
  return {{.kind = DivergenceKind::stdin_,
           .exec = exec,
           .recorded = input_text(was),
           .now = more ? fmt::format("more than {} bytes", was.size) : input_text({.size = size, .sha256 = hash})}};
}

}  // namespace harn::tape
