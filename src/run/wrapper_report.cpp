// SPDX-License-Identifier: Apache-2.0
#include "run/wrapper_report.h"

#include <unistd.h>

#include <string>

#include "base/text.h"

namespace harn::run {

bool wrapper_started_command(int status_fd) {
  char report[4096];
  const ssize_t got = ::read(status_fd, report, sizeof report);
  const std::string_view text(report, got > 0 ? static_cast<std::size_t>(got) : 0);
  return text.find("\"exit-code\"") != std::string_view::npos;
}

Error no_sandbox_made(std::string_view captured) {
  Error error{.code = ErrorCode::os,
              .stage = Stage::spawn,
              .message = "bubblewrap could not set up the sandbox or start the command",
              .hint = "it says why in its own words; 'harn doctor' shows what this host can do"};
  if (const auto said = base::trim(captured.substr(0, captured.find('\n'))); !said.empty()) error.message += ": " + std::string(said);
  return error;
}

}  // namespace harn::run
