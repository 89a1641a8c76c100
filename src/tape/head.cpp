// SPDX-License-Identifier: Apache-2.0
#include "tape/head.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"

namespace harn::tape {
namespace {

constexpr std::string_view format_name = "harn.tape.v1";
constexpr std::size_t sum_digits = 32;

std::string padded(std::string text, std::size_t bytes) {
  text.resize(bytes - 1, ' ');
  return text + '\n';
}

std::unexpected<Error> wrong(std::string message, std::string hint) {
  return fail(Error{.code = ErrorCode::protocol, .stage = Stage::load, .message = std::move(message), .hint = std::move(hint)});
}

std::string text_of(const Slot& slot) {
  return fmt::format(R"("generation":{},"lines":{},"hash":"{}","bytes":{})", slot.generation, slot.head.count, slot.head.hash, slot.size);
}

std::string written(const Slot& slot) {
  const auto text = text_of(slot);
  return fmt::format(R"({{{},"sum":"{}"}})", text, base::sha256_hex(text).substr(0, sum_digits));
}

bool read_number(const base::Value& value, std::string_view name, std::uint64_t& out) {
  const auto* member = value.find(name);
  if (member == nullptr || !member->is(base::ValueKind::integer) || member->integer() < 0) return false;
  out = static_cast<std::uint64_t>(member->integer());
  return true;
}

}  // namespace

std::string print_format() { return padded(fmt::format(R"({{"format":"{}"}})", format_name), format_bytes); }
std::string print_slot(const Slot& slot) { return padded(written(slot), slot_bytes); }

std::optional<Slot> parse_slot(std::string_view text) {
  const auto value = base::parse_json(text);
  if (!value || text.size() != slot_bytes) return std::nullopt;
  Slot slot;
  const auto* hash = value->find("hash");
  if (hash == nullptr || !hash->is(base::ValueKind::string) || hash->string().size() != audit::hash_digits) return std::nullopt;
  slot.head.hash = hash->string();
  if (!read_number(*value, "generation", slot.generation) || !read_number(*value, "lines", slot.head.count) ||
      !read_number(*value, "bytes", slot.size))
    return std::nullopt;
  // Its check sum is part of the text.
  return print_slot(slot) == text ? std::optional(slot) : std::nullopt;
}

Result<TapeHead> parse_head(std::string_view text) {
  const auto format = text.substr(0, format_bytes);
  if (format != print_format()) {
    if (format.starts_with(R"({"format":"harn.tape.v)"))
      return wrong(fmt::format("its format is {}, and this release reads {}", base::quoted(base::trim(format)), format_name),
                   "use the release that recorded it, or record it again");
    return wrong("it does not begin as a tape does", "'harn run --record FILE' makes one; name a file that does not exist yet");
  }
  const auto slot_at = [&](std::size_t at) { return text.size() < head_bytes ? std::nullopt : parse_slot(text.substr(at, slot_bytes)); };
  const auto settled = slot_at(settled_at);
  const auto announced = slot_at(announced_at);
  if (!settled || !announced) return wrong("its head is damaged", "take a copy that is whole, or record it again");
  TapeHead head{.settled = *settled};
  if (announced->generation > settled->generation) head.announced = announced;
  return head;
}

}  // namespace harn::tape
