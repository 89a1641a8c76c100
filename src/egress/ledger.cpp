// SPDX-License-Identifier: Apache-2.0
#include "egress/ledger.h"

#include <charconv>

#include <fmt/format.h>

#include "base/text.h"

namespace harn::egress {
namespace {

constexpr std::size_t most_contacts = 1024;
constexpr std::size_t most_denials = 256;

std::unexpected<Error> broken() {
  return fail(Error{.code = ErrorCode::protocol, .stage = Stage::supervise, .message = "the relay's report is broken"});
}

Result<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return broken();
  return value;
}

Status read_contact(const std::vector<std::string_view>& words, NetworkReport& report) {
  if (words.size() != 7) return broken();
  std::uint64_t values[5] = {};
  for (std::size_t i = 0; i < 5; ++i) {
    HARN_TRY(value, number(words[i + 2]));
    values[i] = value;
  }
  if (values[0] > UINT16_MAX) return broken();
  report.contacts.push_back({.host = std::string(words[1]),
                             .port = static_cast<std::uint16_t>(values[0]),
                             .connections = values[1],
                             .failed = values[2],
                             .sent_bytes = values[3],
                             .received_bytes = values[4]});
  return {};
}

}  // namespace

Contact& Ledger::contact(const std::string& host, std::uint16_t port) {
  const auto found = contacts_.find({host, port});
  if (found != contacts_.end()) return found->second;
  if (contacts_.size() >= most_contacts) {
    ++unnamed_;
    return others_;
  }
  return contacts_.emplace(std::pair(host, port), Contact{.host = host, .port = port}).first->second;
}

std::uint64_t Ledger::bytes_of(const std::string& host) const {
  std::uint64_t sum = 0;
  for (auto it = contacts_.lower_bound({host, 0}); it != contacts_.end() && it->first.first == host; ++it)
    sum += it->second.sent_bytes + it->second.received_bytes;
  return sum;
}

void Ledger::deny(std::string_view call, const std::string& target, std::string_view rule, const std::string& remedy) {
  for (auto* other : onlookers_) other->deny(call, target, rule, remedy);
  const auto key = std::pair(std::string(call), target);
  if (denials_.contains(key)) return;
  if (denials_.size() >= most_denials) {
    ++unnamed_;
    return;
  }
  denials_.emplace(key, Denial{.call = key.first, .target = target, .rule = std::string(rule), .remedy = remedy});
}

// What is not told there is not told here.
Contact& Ledger::twin_of(const Contact& line) { return line.host.empty() ? others_ : contact(line.host, line.port); }

void Ledger::opened(Contact& line) {
  ++line.connections;
  for (auto* other : onlookers_) ++other->twin_of(line).connections;
}

void Ledger::failed(Contact& line) {
  ++line.failed;
  for (auto* other : onlookers_) ++other->twin_of(line).failed;
}

void Ledger::moved(Contact& line, std::uint64_t sent, std::uint64_t received) {
  const auto add = [&](Contact& to) {
    to.sent_bytes += sent;
    to.received_bytes += received;
  };
  add(line);
  for (auto* other : onlookers_) add(other->twin_of(line));
}

std::vector<std::string> Ledger::lines() const {
  std::vector<std::string> out;
  for (const auto& [key, c] : contacts_)
    out.push_back(fmt::format("contact\t{}\t{}\t{}\t{}\t{}\t{}", c.host, c.port, c.connections, c.failed, c.sent_bytes, c.received_bytes));
  for (const auto& [key, d] : denials_) out.push_back(fmt::format("denial\t{}\t{}\t{}\t{}", d.call, d.target, d.rule, d.remedy));
  if (unnamed_ != 0) out.push_back(fmt::format("unnamed\t{}", unnamed_));
  out.emplace_back("end");
  return out;
}

std::optional<HostQuestion> read_question_line(std::string_view line) {
  const auto words = base::split(line, '\t');
  const bool asks = words[0] == "ask" && words.size() == 3;
  const bool gone = words[0] == "gone" && words.size() == 2;
  if (!asks && !gone) return std::nullopt;
  const auto id = number(words[1]);
  if (!id) return std::nullopt;
  return HostQuestion{.question = *id, .gone = gone, .target = asks ? std::string(words[2]) : std::string()};
}

Status read_report_line(std::string_view line, NetworkReport& report) {
  const auto words = base::split(line, '\t');
  if (words[0] == "contact") return read_contact(words, report);
  if (words[0] == "denial" && words.size() == 5) {
    report.denials.push_back({.access = "host",
                              .call = std::string(words[1]),
                              .target = std::string(words[2]),
                              .rule = std::string(words[3]),
                              .remedy = std::string(words[4])});
    return {};
  }
  if (words[0] == "unnamed" && words.size() == 2) {
    HARN_TRY(count, number(words[1]));
    report.unnamed = count;
    return {};
  }
  return broken();
}

}  // namespace harn::egress
