// SPDX-License-Identifier: Apache-2.0
// harn_audit_writer DIR COUNT [process|power] [ROTATE_BYTES]: appends COUNT events, one at a time; 0 = until it is killed.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "harn/audit.h"

int main(int argc, char** argv) {
  using namespace harn;
  if (argc < 3) return 2;
  AuditLogOptions options{.directory = AbsPath::of(argv[1]), .session_id = "writer"};
  if (argc > 3) options.durability = parse_audit_mode(argv[3]).value_or(AuditMode::process);
  if (argc > 4) options.settings.rotate_bytes = static_cast<std::uint64_t>(std::atoll(argv[4]));
  if (argc > 4) options.settings.keep_bytes = 8 * options.settings.rotate_bytes;
  const auto log = AuditLog::open(options);
  const long count = std::atol(argv[2]);
  for (long i = 0; count == 0 || i < count; ++i) {
    // Some are longer than a page, so that a write can be cut in two.
    const std::size_t length = i % 7 == 0 ? 6000 : 10;
    const AuditEvent events[] = {{.type = AuditEventType::exec_started, .data = R"({"argv":[")" + std::string(length, 'x') + R"("]})"},
                                 {.type = AuditEventType::exec_finished, .data = R"({"exit_code":0})"}};
    const auto kept = log->append({events, i % 3 == 0 ? 2u : 1u});
    if (kept) continue;
    std::fprintf(stderr, "%s\n", kept.error().message.c_str());
    return 1;
  }
  return 0;
}
