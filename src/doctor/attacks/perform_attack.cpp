// SPDX-License-Identifier: Apache-2.0
// The harmless neighbours, and how either kind is performed from inside.
#include <fmt/format.h>

#include "doctor/attacks/attack_table.h"
#include "doctor/attacks/inside.h"
#include "sys/files.h"

namespace harn::doctor {
namespace {

constexpr Twin twin_rows[] = {
    {.name = "run_at_all", .promise = "it runs", .inside = run_at_all},
    {.name = "read_inside", .promise = "a file inside can be read", .inside = read_inside, .needs = "own_file"},
    {.name = "write_inside", .promise = "a file inside can be written", .inside = write_inside, .needs = "inside"},
    {.name = "chmod_inside", .promise = "the mode of a file inside can be changed", .inside = chmod_inside, .needs = "inside"},
    {.name = "use_socket_pair", .promise = "it can talk to itself", .inside = use_socket_pair},
    {.name = "signal_own_child", .promise = "it can start and end a process", .inside = signal_own_child},
    {.name = "read_own_process", .promise = "it can look at itself in /proc", .inside = read_own_process},
    {.name = "find_variable", .promise = "an ordinary variable passes", .inside = find_variable, .needs = "plain_name"},
};

Inside find_inside(std::string_view name) {
  for (const auto& row : attacks())
    if (row.name == name) return row.inside;
  for (const auto& row : twin_rows)
    if (row.name == name) return row.inside;
  return nullptr;
}

}  // namespace

std::span<const Twin> twins() { return twin_rows; }

}  // namespace harn::doctor

namespace harn {

AttackReply attack(std::span<const std::string> words, const std::map<std::string, std::string>& environment) {
  const auto inside = words.empty() ? nullptr : doctor::find_inside(words.front());
  if (inside == nullptr) return {.exit_code = doctor::attack_broken, .line = "no such attack"};
  doctor::Targets targets;
  targets.environment = &environment;
  for (const auto& word : words.subspan(1)) {
    const auto equals = word.find('=');
    if (equals != std::string::npos) targets.set(word.substr(0, equals), word.substr(equals + 1));
  }
  const int error = inside(targets);
  if (!targets.complete()) return {.exit_code = doctor::attack_broken, .line = "a target is missing"};
  if (error == 0) return {.exit_code = doctor::attack_worked, .line = "worked"};
  const auto said = sys::os_failure("", "", error).message;
  return {.exit_code = doctor::attack_refused, .line = fmt::format("refused: {}", said.substr(said.rfind(": ") + 2))};
}

}  // namespace harn
