// SPDX-License-Identifier: Apache-2.0
// A profile is a set of alternatives without order: whatever matches any "allow" is allowed, one
// alternative may look at each argument once (runc reads a second look as "or"), and only masked
// equality sees part of an argument. So ordered rules become disjoint boxes of allowed arguments.
#include "plan/syscalls/seccomp_json.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "plan/syscalls/argument_boxes.h"
#include "plan/syscalls/syscall_tables.h"

namespace harn::plan {
namespace {

constexpr std::uint64_t whole_argument = ~std::uint64_t{0};
constexpr int default_error = 1;  // EPERM

constexpr std::pair<std::string_view, std::string_view> profile_names[] = {
    {"x86_64", "SCMP_ARCH_X86_64"}, {"aarch64", "SCMP_ARCH_AARCH64"}, {"riscv64", "SCMP_ARCH_RISCV64"}};

auto unsupported(std::string message) {
  return fail({.code = ErrorCode::not_supported, .stage = Stage::plan, .message = std::move(message)});
}

using RulesByName = std::map<std::string_view, std::vector<const SyscallRule*>>;

Result<RulesByName> rules_by_name(const SyscallFilter& filter, std::size_t architecture) {
  RulesByName rules;
  for (const SyscallRule& rule : filter.rules) {
    if (std::ranges::any_of(rule.when, [](const ArgumentTest& test) { return test.index >= ArgumentBox{}.size(); }))
      return unsupported("a system call has only six arguments, numbered 0 to 5");
    for (const std::string& name : rule.names) {
      if (!find_syscall(name, architecture))
        return unsupported(fmt::format("there is no system call {} on {}", base::quoted(name), filter.arch));
      rules[name].push_back(&rule);
    }
  }
  return rules;
}

// What the ordered rules of one call decide other than the profile does by default.
struct Decided {
  ArgumentBoxes allowed = {};
  std::map<int, ArgumentBoxes> refused = {};  // by errno
};

// Giving up early only ever leaves something to the default.
Decided decide_boxes(const std::vector<const SyscallRule*>& rules, int otherwise_error) {
  Decided decided;
  ArgumentBoxes undecided{ArgumentBox{}};
  for (const SyscallRule* rule : rules) {
    const auto where = boxes_where(rule->when);
    const auto here = where ? intersect_boxes(undecided, *where) : std::nullopt;
    const auto rest = where ? subtract_boxes(undecided, *where) : std::nullopt;
    if (!here || !rest) break;
    const bool told = rule->action == SyscallAction::errno_ && rule->error != otherwise_error && !here->empty();
    if (rule->action == SyscallAction::allow) decided.allowed.insert(decided.allowed.end(), here->begin(), here->end());
    else if (told) decided.refused[rule->error].insert(decided.refused[rule->error].end(), here->begin(), here->end());
    undecided = *rest;
  }
  return decided;
}

std::string print_cube(std::size_t index, const ArgumentCube& cube) {
  if (cube.mask == whole_argument) return fmt::format(R"({{"index": {}, "value": {}, "op": "SCMP_CMP_EQ"}})", index, cube.value);
  return fmt::format(R"({{"index": {}, "value": {}, "valueTwo": {}, "op": "SCMP_CMP_MASKED_EQ"}})", index, cube.mask, cube.value);
}

std::string print_entry(const std::vector<std::string_view>& names, std::string_view action, const ArgumentBox& box = {}) {
  std::vector<std::string> arguments;
  for (std::size_t i = 0; i < box.size(); ++i)
    if (box[i].mask != 0) arguments.push_back(print_cube(i, box[i]));
  const std::string tests = arguments.empty() ? "" : fmt::format(R"(, "args": [{}])", fmt::join(arguments, ", "));
  return fmt::format(R"(    {{"names": ["{}"], {}{}}})", fmt::join(names, R"(", ")"), action, tests);
}

std::vector<std::string> print_entries(const RulesByName& rules, int otherwise_error) {
  std::map<ArgumentBoxes, std::vector<std::string_view>> allowed;
  std::map<std::pair<int, ArgumentBoxes>, std::vector<std::string_view>> refused;
  for (const auto& [name, list] : rules) {
    auto decided = decide_boxes(list, otherwise_error);
    if (!decided.allowed.empty()) allowed[std::move(decided.allowed)].push_back(name);
    for (auto& [error, boxes] : decided.refused) refused[{error, std::move(boxes)}].push_back(name);
  }
  std::vector<std::string> entries;
  for (const auto& [boxes, names] : allowed)
    for (const ArgumentBox& box : boxes) entries.push_back(print_entry(names, R"("action": "SCMP_ACT_ALLOW")", box));
  for (const auto& [answer, names] : refused)
    for (const ArgumentBox& box : answer.second)
      entries.push_back(print_entry(names, fmt::format(R"("action": "SCMP_ACT_ERRNO", "errnoRet": {})", answer.first), box));
  return entries;
}

}  // namespace

Result<std::string> seccomp_json(const SyscallFilter& filter) {
  const auto architecture = find_architecture(filter.arch);
  const auto row = std::ranges::find(profile_names, filter.arch, &std::pair<std::string_view, std::string_view>::first);
  if (!architecture || row == std::end(profile_names))
    return unsupported(fmt::format("no seccomp profile can be made for the architecture {}", base::quoted(filter.arch)));
  HARN_TRY(rules, rules_by_name(filter, *architecture));
  const int error = filter.otherwise == SyscallAction::errno_ ? filter.otherwise_error : default_error;
  return fmt::format(R"({{
  "defaultAction": "SCMP_ACT_ERRNO",
  "defaultErrnoRet": {},
  "archMap": [{{"architecture": "{}", "subArchitectures": []}}],
  "syscalls": [
{}
  ]
}}
)",
                     error, row->second, fmt::join(print_entries(rules, error), ",\n"));
}

}  // namespace harn::plan
