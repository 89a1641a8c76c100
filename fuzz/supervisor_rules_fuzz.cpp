// SPDX-License-Identifier: Apache-2.0
// A block of rules and, after its last zero byte, a path: no crash, a broken block allows nothing, and an
// unbroken one is read as a plain list would be.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "run/supervisor/rules.cpp"  // NOLINT(bugprone-suspicious-include): the program it belongs to has no library

namespace {

using namespace harn::run::supervisor;
using Row = std::pair<std::string, Allowed>;

// The format as protocol.h describes it, read with everything a library offers.
std::optional<std::vector<Row>> read_rows(std::string_view block) {
  RulesHeader header;
  if (block.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, block.data(), sizeof header);
  block.remove_prefix(sizeof header);
  if (block.size() != header.bytes) return std::nullopt;
  std::vector<Row> rows;
  for (std::uint32_t i = 0; i < header.count; ++i) {
    RuleHead head;
    if (block.size() < sizeof head) return std::nullopt;
    std::memcpy(&head, block.data(), sizeof head);
    block.remove_prefix(sizeof head);
    if (block.size() < head.length || head.length == 0 || block.front() != '/' || head.allowed > Allowed::writing) return std::nullopt;
    rows.emplace_back(block.substr(0, head.length), head.allowed);
    block.remove_prefix(head.length);
  }
  if (!block.empty()) return std::nullopt;
  return rows;
}

bool above(const std::string& place, const std::string& path) {
  return place.size() == 1 || path == place || path.compare(0, place.size() + 1, place + "/") == 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto cut = text.rfind('\0');
  const auto block = text.substr(0, cut);
  const std::string path(cut == std::string_view::npos ? std::string_view("/w/x") : text.substr(cut + 1));
  const Rules rules(block.data(), block.size());
  auto allowed = Allowed::nothing;
  bool closed = false;
  const auto rows = read_rows(block).value_or(std::vector<Row>());
  for (const auto& [place, what] : rows) {
    if (above(place, path)) allowed = what;
    closed = closed || (what != Allowed::changing && place.size() > path.size() && above(path, place));
  }
  if (rules.at(path) != allowed || rules.closed_beneath(path) != closed) std::abort();
  return 0;
}
