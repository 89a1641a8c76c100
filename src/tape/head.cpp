// SPDX-License-Identifier: Apache-2.0
#include "tape/head.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "sys/random_number.h"

namespace harn::tape {
namespace {

constexpr std::string_view format_name = "harn.tape.v2";
constexpr std::string_view first_format = R"({"format":"harn.tape.v1"})";  // without a salt; read and continued as it is
constexpr std::size_t salt_digits = 24;
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

// The salt is part of the check sum, so that it cannot be another one either.
std::string written(const Slot& slot, std::string_view salt) {
  const auto text = text_of(slot);
  return fmt::format(R"({{{},"sum":"{}"}})", text, base::sha256_hex(std::string(salt) + text).substr(0, sum_digits));
}

// Nothing where the line is not exactly one that a writer makes.
std::optional<std::string> salt_in(std::string_view line) {
  if (line == print_format("")) return "";
  const auto value = base::parse_json(line);
  const auto* salt = value ? value->find("salt") : nullptr;
  const bool known = salt != nullptr && salt->is(base::ValueKind::string) && salt->string().size() == salt_digits &&
                     salt->string().find_first_not_of("0123456789abcdef") == std::string::npos;
  return known && line == print_format(salt->string()) ? std::optional(salt->string()) : std::nullopt;
}

bool read_number(const base::Value& value, std::string_view name, std::uint64_t& out) {
  const auto* member = value.find(name);
  if (member == nullptr || !member->is(base::ValueKind::integer) || member->integer() < 0) return false;
  out = static_cast<std::uint64_t>(member->integer());
  return true;
}

}  // namespace

std::string print_format(std::string_view salt) {
  if (salt.empty()) return padded(std::string(first_format), format_bytes);
  return padded(fmt::format(R"({{"format":"{}","salt":"{}"}})", format_name, salt), format_bytes);
}

std::string make_salt() { return fmt::format("{:016x}{:016x}", sys::random_number(), sys::random_number()).substr(0, salt_digits); }
std::string print_slot(const Slot& slot, std::string_view salt) { return padded(written(slot, salt), slot_bytes); }

std::optional<Slot> parse_slot(std::string_view text, std::string_view salt) {
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
  return print_slot(slot, salt) == text ? std::optional(slot) : std::nullopt;
}

Result<TapeHead> parse_head(std::string_view text) {
  const auto format = text.substr(0, format_bytes);
  const auto salt = salt_in(format);
  if (!salt) {
    if (format.starts_with(R"({"format":"harn.tape.v)"))
      return wrong(fmt::format("its format is {}, and this release reads {}", base::quoted(base::trim(format)), format_name),
                   "use the release that recorded it, or record it again");
    return wrong("it does not begin as a tape does", "'harn run --record FILE' makes one; name a file that does not exist yet");
  }
  const auto slot_at = [&](std::size_t at) {
    return text.size() < head_bytes ? std::nullopt : parse_slot(text.substr(at, slot_bytes), *salt);
  };
  const auto settled = slot_at(settled_at);
  const auto announced = slot_at(announced_at);
  if (!settled || !announced) return wrong("its head is damaged", "take a copy that is whole, or record it again");
  TapeHead head{.salt = *salt, .settled = *settled};
  if (announced->generation > settled->generation) head.announced = announced;
  return head;
}

}  // namespace harn::tape
