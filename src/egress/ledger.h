// SPDX-License-Identifier: Apache-2.0
// What a relay saw: who was reached with how many bytes, and what was refused. Kept small whatever a
// confined program does, and told to the launcher at the end as lines of words.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harn/outcome.h"
#include "harn/result.h"

namespace harn::egress {

struct NetworkReport {
  std::vector<Contact> contacts = {};
  std::vector<Denial> denials = {};
  std::uint64_t unnamed = 0;  // contacts and denials past what is kept

  bool operator==(const NetworkReport&) const = default;
};

class Ledger {
 public:
  // The line of one host and port; past the limit all share one that is not told.
  Contact& contact(const std::string& host, std::uint16_t port);
  std::uint64_t bytes_of(const std::string& host) const;
  void deny(std::string_view call, const std::string& target, std::string_view rule, const std::string& remedy);
  // On a line of ours, and of everybody who looks on.
  void opened(Contact& line);
  void failed(Contact& line);
  void moved(Contact& line, std::uint64_t sent, std::uint64_t received);

  // Borrowed: it is told what happens from now on, as if it had been empty until now.
  void tell_also(Ledger& other) { onlookers_.push_back(&other); }
  void forget(const Ledger& other) { std::erase(onlookers_, &other); }

  // Each a message of its own, the last one empty.
  std::vector<std::string> lines() const;

 private:
  Contact& twin_of(const Contact& line);

  std::map<std::pair<std::string, std::uint16_t>, Contact> contacts_ = {};
  std::map<std::pair<std::string, std::string>, Denial> denials_ = {};
  Contact others_ = {};
  std::uint64_t unnamed_ = 0;
  std::vector<Ledger*> onlookers_ = {};
};

// A line told while the command runs, a question or its end; nothing when it is none of these.
std::optional<HostQuestion> read_question_line(std::string_view line);

// One line into the report; an error when it is not one of ours.
Status read_report_line(std::string_view line, NetworkReport& report);

}  // namespace harn::egress
