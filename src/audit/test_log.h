// SPDX-License-Identifier: Apache-2.0
// For tests: a log of a few events, and its files as texts that can be changed.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "audit/files.h"
#include "harn/audit.h"
#include "support/temp_dir.h"

namespace harn::test {

inline std::string text_of(const AbsPath& file) {
  std::ifstream in(file.text(), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void put(const AbsPath& file, std::string_view text) {
  std::ofstream out(file.text(), std::ios::binary | std::ios::trunc);
  out << text;
}

inline std::unique_ptr<AuditLog> log_in(const AbsPath& directory, AuditSettings settings = {}, AuditMode mode = AuditMode::process) {
  return AuditLog::open({.directory = directory, .session_id = "run-0123456789abcdef", .durability = mode, .settings = settings});
}

inline AuditEvent started(int number) {
  return {.type = AuditEventType::exec_started,
          .data = fmt::format(R"({{"argv":["make","test","{}"],"cwd":"/home/me/p\u00e9","pid":{}}})", number, number),
          .canonical = true};
}

inline void write_events(AuditLog& log, int count) {
  for (int i = 0; i < count; ++i) {
    const AuditEvent events[] = {started(i)};
    const auto kept = log.append(events);
    ASSERT_TRUE(kept) << kept.error().message;
  }
}

inline std::string problem_of(const AbsPath& directory, const AuditCheck& check = {}) {
  const auto report = verify_audit_log(directory, check);
  return report ? report->problem : "error: " + report.error().message;
}

}  // namespace harn::test
