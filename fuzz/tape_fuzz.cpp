// SPDX-License-Identifier: Apache-2.0
// Any bytes are the head of a tape or a run record, or refused in words; what is accepted is written again as it was, and a run that
// was read is compared with itself and found the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tape/compare.h"
#include "tape/head.h"

namespace {

using namespace harn;

void require(bool holds) {
  if (!holds) std::abort();
}

void check_head(std::string_view text) {
  if (const auto slot = tape::parse_slot(text, "")) require(tape::print_slot(*slot, "") == text);
  const auto head = tape::parse_head(text);
  if (!head) return require(!head.error().message.empty());
  require(text.starts_with(tape::print_format(head->salt) + tape::print_slot(head->settled, head->salt)));
  if (head->announced) require(head->announced->generation > head->settled.generation);
}

// Behind a beginning that is right, so that more than the first line is looked at.
void check_slots(std::string_view text) {
  const auto number = static_cast<std::uint64_t>(text.size()) * 977;
  const tape::Slot slot{.generation = number, .head = {.count = number / 3, .hash = audit::genesis_hash()}, .size = number * 5};
  constexpr std::string_view salt = "0123456789abcdef01234567";
  require(tape::parse_slot(tape::print_slot(slot, salt), salt) == slot);
  check_head(tape::print_format(salt) + std::string(text));
  check_head(tape::print_format(salt) + tape::print_slot(slot, salt) + std::string(text));
}

void check_record(std::string_view text) {
  const auto record = run_record_from_json(text);
  if (!record) return require(!record.error().message.empty());
  const auto again = run_record_from_json(run_record_to_json(*record));
  require(again && *again == *record);
  require(tape::compare(*record, *again, 1, {}).empty());
  static_cast<void>(outcome_of(*record));
}

// What is described is recorded, whatever words it has.
void check_described(std::string_view text) {
  const std::vector<std::string> argv = {std::string(text), std::string(text.substr(text.size() / 2))};
  const std::map<std::string, std::string> environment = {{"A", argv[1]}};
  const auto run = describe_run({.policy = {}, .argv = argv, .cwd = {}, .environment = environment, .secrets = {}});
  const auto read = run_record_from_json(run_record_to_json(run));
  require(read && *read == run);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  check_head(text);
  check_slots(text);
  check_record(text);
  check_described(text);
  return 0;
}
