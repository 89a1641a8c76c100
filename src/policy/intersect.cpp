// SPDX-License-Identifier: Apache-2.0
// intersect() = the meet plus a report of what each side lost; within() = nothing was lost.
#include <algorithm>

#include "base/text.h"
#include "policy/meet.h"
#include "policy/members.h"

namespace harn {
namespace {

using policy::Direction;
using policy::MemberText;

std::vector<std::string> missing_from(const std::vector<std::string>& entries, const std::vector<std::string>& others) {
  std::vector<std::string> out;
  const std::set<std::string_view> known(others.begin(), others.end());
  for (const auto& entry : entries)
    if (!known.contains(entry)) out.push_back(entry);
  return out;
}

// For a path that shrank: the surviving entries beneath it, or where a weaker list took it over.
std::string remains_of(const std::string& entry, const std::vector<MemberText>& result) {
  if (!looks_absolute(entry)) return {};
  const auto path = AbsPath::parse(entry);
  std::vector<std::string> left;
  for (const auto& line : result) {
    if (line.direction != Direction::grants) continue;
    for (const auto& text : line.entries) {
      const auto other = AbsPath::parse(text);
      if (path && other && path->contains(*other)) left.push_back(std::string(line.member) + " " + text);
    }
  }
  return base::join(left, ", ");
}

void report_side(Side side, const std::vector<MemberText>& mine, const std::vector<MemberText>& result, Narrowing& out) {
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const auto& before = mine[i];
    const auto& after = result[i];
    if (before.direction == Direction::scalar) {
      if (before != after) out.push_back({std::string(before.member), before.entries.front(), after.entries.front(), side});
    } else if (before.direction == Direction::grants) {
      for (const auto& entry : missing_from(before.entries, after.entries))
        out.push_back({std::string(before.member), entry, remains_of(entry, result), side});
    } else {
      for (const auto& entry : missing_from(after.entries, before.entries))
        out.push_back({std::string(before.member), "without " + entry, entry, side});
    }
  }
}

std::string list_text(const std::vector<std::string>& entries) { return entries.empty() ? "nothing" : base::join(entries, ", "); }

}  // namespace

Intersection intersect(const Policy& ceiling, const Policy& requested) {
  Intersection out{.policy = policy::meet(ceiling, requested), .narrowing = {}};
  const auto result = policy::member_texts(out.policy);
  report_side(Side::ceiling, policy::member_texts(canonical(ceiling)), result, out.narrowing);
  report_side(Side::requested, policy::member_texts(canonical(requested)), result, out.narrowing);
  std::sort(out.narrowing.begin(), out.narrowing.end());
  return out;
}

std::vector<Widening> within(const Policy& ceiling, const Policy& requested) {
  const auto wanted = policy::member_texts(canonical(requested));
  const auto allowed = policy::member_texts(policy::meet(ceiling, requested));
  const auto bound = policy::member_texts(canonical(ceiling));
  std::vector<Widening> out;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i] != allowed[i]) out.push_back({std::string(wanted[i].member), list_text(bound[i].entries), list_text(wanted[i].entries)});
  return out;
}

}  // namespace harn
