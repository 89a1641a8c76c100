// SPDX-License-Identifier: Apache-2.0
#include "egress/dns_message.h"

#include <algorithm>

#include "base/text.h"

namespace harn::egress {
namespace {

constexpr std::size_t header_bytes = 12;
constexpr std::size_t max_name_bytes = 253;
constexpr std::uint8_t max_label_bytes = 63;
constexpr std::uint16_t class_internet = 1;
constexpr std::uint16_t type_cname = 5;
constexpr std::uint16_t type_opt = 41;
constexpr std::uint16_t flag_answer = 0x8000;
constexpr std::uint16_t flag_recursion_wanted = 0x0100;
constexpr std::uint16_t flag_recursion_offered = 0x0080;
constexpr std::uint16_t opcode_mask = 0x7800;
constexpr std::uint16_t own_udp_bytes = 1232;
constexpr int most_jumps = 32;
constexpr int most_aliases = 16;

class Reader {
 public:
  explicit Reader(ByteView bytes, std::size_t at = 0) : bytes_(bytes), at_(at) {}

  bool ok() const { return ok_; }
  std::size_t at() const { return at_; }

  std::uint8_t u8() {
    if (at_ >= bytes_.size()) {
      ok_ = false;
      return 0;
    }
    return bytes_[at_++];
  }
  std::uint16_t u16() {
    const auto high = u8();
    return static_cast<std::uint16_t>(high << 8 | u8());
  }
  std::uint32_t u32() {
    const auto high = u16();
    return std::uint32_t{high} << 16 | u16();
  }
  ByteView take(std::size_t count) {
    if (count > bytes_.size() - std::min(at_, bytes_.size())) {
      ok_ = false;
      return {};
    }
    at_ += count;
    return bytes_.subspan(at_ - count, count);
  }

  // Lower case, dotted. A label with bytes no host name has makes the whole name "?", so that it can
  // never be taken for another one.
  std::string name(bool pointers) {
    std::string out;
    bool strange = false;
    std::optional<std::size_t> back;
    for (int jumps = 0; ok_;) {
      const auto length = u8();
      if (length == 0) break;
      if ((length & 0xc0) == 0xc0) {
        const auto target = static_cast<std::size_t>((length & 0x3f) << 8 | u8());
        if (!pointers || ++jumps > most_jumps || target >= bytes_.size()) ok_ = false;
        if (!back) back = at_;
        at_ = target;
        continue;
      }
      if (length > max_label_bytes || out.size() + length + 1 > max_name_bytes + 1) {
        ok_ = false;
        break;
      }
      if (!out.empty()) out += '.';
      for (const auto byte : take(length)) {
        const char c = static_cast<char>(byte >= 'A' && byte <= 'Z' ? byte + ('a' - 'A') : byte);
        strange = strange || !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_');
        out += c;
      }
    }
    if (back) at_ = *back;
    return strange ? "?" : out;
  }

 private:
  ByteView bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

void put16(Bytes& out, std::uint16_t value) {
  out.push_back(static_cast<std::uint8_t>(value >> 8));
  out.push_back(static_cast<std::uint8_t>(value & 0xff));
}

void put32(Bytes& out, std::uint32_t value) {
  put16(out, static_cast<std::uint16_t>(value >> 16));
  put16(out, static_cast<std::uint16_t>(value & 0xffff));
}

bool put_name(Bytes& out, std::string_view name) {
  if (name.empty() || name.size() > max_name_bytes) return false;
  for (const auto label : base::split(name, '.')) {
    if (label.empty() || label.size() > max_label_bytes) return false;
    out.push_back(static_cast<std::uint8_t>(label.size()));
    out.insert(out.end(), label.begin(), label.end());
  }
  out.push_back(0);
  return true;
}

std::size_t family_bytes(std::uint16_t type) { return type == type_a ? 4 : 16; }

struct Record {
  std::string owner = {};
  std::uint16_t type = 0;
  std::uint32_t ttl = 0;
  std::string alias = {};
  policy::IpBlock address = {};
};

std::optional<Record> read_record(Reader& reader, ByteView message) {
  Record record;
  record.owner = reader.name(/*pointers=*/true);
  record.type = reader.u16();
  const auto kind = reader.u16();
  record.ttl = reader.u32();
  const auto length = reader.u16();
  const auto start = reader.at();
  const auto content = reader.take(length);
  if (!reader.ok()) return std::nullopt;
  if (kind != class_internet) {
    record.type = 0;
    return record;
  }
  if (record.type == type_cname) {
    Reader inner(message, start);
    record.alias = inner.name(/*pointers=*/true);
    if (!inner.ok() || inner.at() != start + length) return std::nullopt;
  }
  if (record.type == type_a || record.type == type_aaaa) {
    if (length != family_bytes(record.type)) return std::nullopt;
    record.address = {.v6 = record.type == type_aaaa, .bits = {}, .length = static_cast<int>(8 * length)};
    std::ranges::copy(content, record.address.bits.begin());
  }
  return record;
}

// Follows the aliases in whatever order they stand; records of other names are nobody's business.
void follow(const std::vector<Record>& records, std::string_view name, std::uint16_t type, DnsReply& reply) {
  std::string current(name);
  for (int steps = 0; steps < most_aliases; ++steps) {
    const auto alias = std::ranges::find_if(records, [&](const Record& r) { return r.type == type_cname && r.owner == current; });
    if (alias == records.end()) break;
    current = alias->alias;
    reply.ttl = std::min(reply.ttl, alias->ttl);
    reply.aliases.push_back(current);
  }
  for (const auto& record : records) {
    if (record.type != type || record.owner != current) continue;
    reply.ttl = std::min(reply.ttl, record.ttl);
    reply.addresses.push_back(record.address);
  }
}

}  // namespace

std::optional<ReadQuestion> parse_question(ByteView message) {
  if (message.size() < header_bytes) return std::nullopt;
  Reader reader(message);
  ReadQuestion out;
  out.question.id = reader.u16();
  const auto flags = reader.u16();
  if ((flags & flag_answer) != 0) return std::nullopt;
  out.question.recursion = (flags & flag_recursion_wanted) != 0;
  const auto questions = reader.u16();
  reader.take(6);
  if ((flags & opcode_mask) != 0) {
    out.problem = DnsCode::not_implemented;
    return out;
  }
  out.question.name = reader.name(/*pointers=*/false);
  out.question.type = reader.u16();
  const auto kind = reader.u16();
  if (!reader.ok() || questions != 1) {
    out.question.name.clear();
    out.problem = DnsCode::malformed;
    return out;
  }
  if (kind != class_internet) out.problem = DnsCode::not_implemented;
  out.question.section.assign(message.begin() + header_bytes, message.begin() + static_cast<long>(reader.at()));
  return out;
}

Bytes print_answer(const DnsQuestion& question, DnsCode code, std::span<const policy::IpBlock> addresses, std::uint32_t ttl) {
  constexpr std::uint16_t to_the_question = 0xc00c;
  Bytes out;
  put16(out, question.id);
  const auto wanted = question.recursion ? flag_recursion_wanted : std::uint16_t{0};
  put16(out, static_cast<std::uint16_t>(flag_answer | flag_recursion_offered | wanted | static_cast<std::uint16_t>(code)));
  put16(out, question.section.empty() ? 0 : 1);
  std::vector<const policy::IpBlock*> fitting;
  for (const auto& address : addresses)
    if (address.v6 == (question.type == type_aaaa) && (question.type == type_a || question.type == type_aaaa)) fitting.push_back(&address);
  put16(out, static_cast<std::uint16_t>(fitting.size()));
  put32(out, 0);
  out.insert(out.end(), question.section.begin(), question.section.end());
  for (const auto* address : fitting) {
    put16(out, to_the_question);
    put16(out, question.type);
    put16(out, class_internet);
    put32(out, ttl);
    const auto length = family_bytes(question.type);
    put16(out, static_cast<std::uint16_t>(length));
    out.insert(out.end(), address->bits.begin(), address->bits.begin() + static_cast<long>(length));
  }
  return out;
}

Bytes print_question(std::uint16_t id, std::string_view name, std::uint16_t type) {
  Bytes out;
  put16(out, id);
  put16(out, flag_recursion_wanted);
  put16(out, 1);
  put32(out, 0);
  put16(out, 1);
  if (!put_name(out, name)) return {};
  put16(out, type);
  put16(out, class_internet);
  out.push_back(0);  // EDNS: longer answers than 512 bytes
  put16(out, type_opt);
  put16(out, own_udp_bytes);
  put32(out, 0);
  put16(out, 0);
  return out;
}

std::optional<DnsReply> parse_reply(ByteView message, std::uint16_t id, std::string_view name, std::uint16_t type) {
  Reader reader(message);
  const auto got_id = reader.u16();
  const auto flags = reader.u16();
  const auto questions = reader.u16();
  const auto answers = reader.u16();
  reader.take(4);
  if (!reader.ok() || got_id != id || (flags & flag_answer) == 0 || questions != 1) return std::nullopt;
  const bool ours = reader.name(/*pointers=*/false) == name && reader.u16() == type && reader.u16() == class_internet;
  if (!reader.ok() || !ours) return std::nullopt;
  DnsReply reply{.code = static_cast<DnsCode>(flags & 0x0f), .ttl = UINT32_MAX};
  if (reply.code != DnsCode::ok) return reply;
  std::vector<Record> records;
  for (unsigned i = 0; i < answers; ++i) {
    auto record = read_record(reader, message);
    if (!record) return std::nullopt;
    records.push_back(std::move(*record));
  }
  follow(records, name, type, reply);
  return reply;
}

}  // namespace harn::egress
