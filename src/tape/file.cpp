// SPDX-License-Identifier: Apache-2.0
#include "tape/file.h"

#include <fmt/format.h>

#include "base/text.h"

namespace harn::tape {
namespace {

// Everything that was announced is there; only to say so was left.
Result<bool> is_finished(int fd, const AbsPath& name, const TapeHead& head) {
  auto reached = head.settled.head;
  bool whole = true;
  const auto take = [&](std::string_view line, std::uint64_t, bool ends) {
    const auto record = ends ? audit::parse_line(line, longest_line) : Result<AuditRecord>(fail(Error{}));
    whole = record && audit::follow(reached, *record);
    return whole;
  };
  HARN_OK(audit::for_each_line(fd, name, {.from = head.settled.size, .limit = head.announced->size, .longest = longest_line}, take));
  return whole && reached == head.announced->head;
}

}  // namespace

std::unexpected<Error> not_as_recorded(const AbsPath& name, std::string_view why) {
  return fail(Error{.code = ErrorCode::protocol,
                    .stage = Stage::load,
                    .message = fmt::format("{} is not as it was recorded: {}", base::quoted(name.text()), why),
                    .hint = "take a copy that is whole, or record it again"});
}

Result<TapeEnd> find_end(int fd, const AbsPath& name) {
  HARN_TRY(size, audit::size_of(fd, name));
  HARN_TRY(text, audit::read_at(fd, 0, head_bytes, name));
  auto head = parse_head(text);
  if (!head) {
    head.error().message = fmt::format("{} is no tape that can be used: {}", base::quoted(name.text()), head.error().message);
    return fail(std::move(head).error());
  }
  const auto& settled = head->settled;
  const auto longest = head->announced ? head->announced->size : settled.size;
  if (size < settled.size) return not_as_recorded(name, fmt::format("{} of its {} bytes are missing", settled.size - size, settled.size));
  if (size > longest) return not_as_recorded(name, fmt::format("{} bytes were added behind its end", size - longest));
  if (!head->announced) return TapeEnd{.salt = head->salt, .slot = settled};
  if (size == longest) {
    HARN_TRY(finished, is_finished(fd, name, *head));
    if (finished) return TapeEnd{.salt = head->salt, .slot = *head->announced};
  }
  return TapeEnd{.salt = head->salt, .slot = settled, .torn = true, .torn_bytes = size - settled.size};
}

}  // namespace harn::tape
