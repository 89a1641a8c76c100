// SPDX-License-Identifier: Apache-2.0
#include "embed/cursor.h"

#include <cerrno>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "sys/files.h"
#include "sys/unplanted.h"

namespace harn::embed {
namespace {

constexpr std::size_t longest_cursor = 16u << 20;
constexpr std::string_view cursor_format = "harn.cursor.v1";

std::unexpected<Error> wrong(const AbsPath& file, std::string_view why) {
  return fail(Error{.code = ErrorCode::invalid_command,
                    .stage = Stage::cli,
                    .message = fmt::format("--cursor: {} {}", base::quoted(file.text()), why),
                    .hint = "remove it to begin from the start, or name another file"});
}

bool has_text(const base::Value& value, std::string_view name, std::string_view text) {
  const auto* member = value.find(name);
  return member != nullptr && member->is(base::ValueKind::string) && member->string() == text;
}

}  // namespace

Result<Cursor> Cursor::open(const AbsPath& file, Replay& replay) {
  Cursor cursor(file);
  HARN_TRY(place, sys::hold_unplanted_parent(file, "cursor"));
  auto directory = sys::open_held(place.directory.get());
  if (!directory) return fail(sys::os_failure("open", place.path.text(), errno));
  HARN_TRY(lock, audit::Lock::take(directory.get(), audit::Lock::Kind::exclusive, place.path));
  cursor.locked_ = std::move(directory);
  cursor.lock_.emplace(std::move(lock));
  auto text = sys::read_file(cursor.locked_.get(), std::string(file.name()), longest_cursor);
  if (!text && text.error().os_error == ENOENT) return cursor;
  if (!text) return fail(std::move(text).error());
  const auto value = base::parse_json(*text, file.text());
  const auto* played = value ? value->find("played") : nullptr;
  if (!value || !has_text(*value, "format", cursor_format) || played == nullptr || !played->is(base::ValueKind::string))
    return wrong(file, "is no cursor");
  if (!has_text(*value, "tape", replay.tape().id())) return wrong(file, "belongs to another tape");
  auto marks = replay.played();
  if (played->string().size() > marks.size()) return wrong(file, "was played on a longer tape than this");
  for (std::size_t i = 0; i < played->string().size(); ++i) marks[i] = played->string()[i] == '1';
  replay.set_played(std::move(marks));
  return cursor;
}

Status Cursor::keep(const Replay& replay) const {
  std::string marks;
  for (const bool played : replay.played()) marks += played ? '1' : '0';
  base::Value out;
  out.set("format", cursor_format);
  out.set("tape", replay.tape().id());
  out.set("played", marks);
  return sys::replace_file(locked_.get(), std::string(file_.name()), base::print_json(out) + "\n");
}

}  // namespace harn::embed
