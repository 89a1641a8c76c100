// SPDX-License-Identifier: Apache-2.0
#include "doctor/judge.h"

#include <algorithm>

#include "base/text.h"

namespace harn {

namespace doctor {
namespace {

bool covers(const Gap& gap, std::string_view place, const Targets& targets) {
  if (gap.paths.empty() || place.empty() || !targets.has(place)) return true;
  const auto target = AbsPath::of(targets.text(place));
  return std::ranges::any_of(gap.paths, [&](const AbsPath& path) { return path.contains(target); });
}

bool has_word(std::string_view words, std::string_view word) {
  const auto list = base::split(words, ' ');
  return std::ranges::find(list, word) != list.end();
}

}  // namespace

Verdict judge(const Evidence& seen) {
  if (!seen.control_ran || !seen.confined_ran) return Verdict::probe_broken;
  if (!seen.worked_outside) return seen.rare ? Verdict::not_measured : Verdict::probe_broken;
  if (!seen.requested) return seen.worked_inside ? Verdict::conforms : Verdict::overrefused;
  if (seen.worked_inside) return seen.excused ? Verdict::not_enforced : Verdict::escaped;
  return seen.twin_worked.value_or(true) ? Verdict::conforms : Verdict::overrefused;
}

std::optional<std::string> excuse_for(const Attack& attack, const Plan& plan, const Targets& targets) {
  for (const auto& gap : plan.coverage.gaps)
    if (has_word(attack.excuses, gap.code) && covers(gap, attack.place, targets)) return gap.code + ": " + gap.detail;
  if (plan.route == Route::direct) return "nothing confines the command";
  if (!attack.dimension) return std::nullopt;
  const auto& coverage = plan.coverage[*attack.dimension];
  const auto same = [&](const Gap& gap) { return gap.dimension == *attack.dimension; };
  if (coverage.status == Enforcement::not_enforced && std::ranges::none_of(plan.coverage.gaps, same)) return coverage.reason;
  return std::nullopt;
}

}  // namespace doctor
}  // namespace harn
