// SPDX-License-Identifier: Apache-2.0
// Reading a tape as somebody who does not believe it: every line, every link, and the end that its head holds. Outputs stay in the
// file until somebody wants them, and are held against their hashes then.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "plan/json_fields.h"
#include "sys/files.h"
#include "tape/file.h"
#include "tape/record_json.h"

namespace harn {
namespace {

struct Piece {
  std::uint64_t from = 0;
  std::size_t bytes = 0;
};

struct PieceText {
  std::string stream = {};
  std::string bytes = {};
};

Result<PieceText> read_piece(const base::Value& data) {
  const auto* stream = data.find("stream");
  const auto* bytes = data.find("bytes");
  const bool known = stream != nullptr && stream->is(base::ValueKind::string) && bytes != nullptr && data.object().size() == 2 &&
                     (stream->string() == "stdout" || stream->string() == "stderr");
  if (!known) return plan::broken("the line is no piece of an output");
  PieceText out{.stream = stream->string()};
  HARN_OK(plan::read_text(*bytes, out.bytes));
  return out;
}

}  // namespace

struct Tape::Parts {
  AbsPath path = {};
  sys::UniqueFd fd = {};
  std::vector<RunRecord> records = {};
  std::vector<std::vector<Piece>> pieces = {};  // of each record
  std::string id = audit::genesis_hash();
  tape::TapeEnd end = {};
  std::uint64_t names = 1;
  std::uint64_t repaired = 0;

  // Where the file itself stands, whatever links its name goes through.
  Status find_itself(const AbsPath& name) {
    HARN_TRY(real, sys::real_path(name));
    struct stat held = {};
    struct stat there = {};
    if (::fstat(fd.get(), &held) != 0 || ::lstat(real.text().c_str(), &there) != 0)
      return fail(sys::os_failure("stat", name.text(), errno, Stage::load));
    if (held.st_dev != there.st_dev || held.st_ino != there.st_ino)
      return tape::not_as_recorded(name, "another file took its place while it was opened");
    path = std::move(real);
    names = held.st_nlink;
    return {};
  }

  Status take(const AuditRecord& line, Piece place) {
    HARN_TRY(data, base::parse_json(line.data));
    if (line.event_type == tape::exec_line) {
      HARN_TRY(record, tape::read_record(data));
      if (!record.out.bytes.empty() || !record.err.bytes.empty()) return plan::broken("the bytes of an output stand in the wrong line");
      records.push_back(std::move(record));
      pieces.emplace_back();
      return {};
    }
    if (line.event_type == tape::repair_line) {
      ++repaired;
      return {};
    }
    if (line.event_type != tape::output_line || pieces.empty())
      return plan::broken(fmt::format("a line of the kind {} has no place here", base::quoted(line.event_type)));
    HARN_OK(read_piece(data));
    pieces.back().push_back(place);
    return {};
  }

  Status read_all() {
    audit::Head head;
    std::uint64_t number = 3;  // of its own lines at the beginning
    std::uint64_t from = tape::head_bytes;
    std::string problem;
    const auto take_line = [&](std::string_view text, std::uint64_t behind, bool whole) {
      ++number;
      auto line = whole ? audit::parse_line(text, tape::longest_line) : Result<AuditRecord>(plan::broken("the line has no end"));
      auto taken = line ? audit::follow(head, *line) : Status(fail(line.error()));
      if (taken) taken = take(*line, {.from = from, .bytes = text.size()});
      if (taken && line->seq == 1) id = line->hash;
      if (!taken) problem = fmt::format("line {}: {}", number, taken.error().message);
      from = behind;
      return problem.empty();
    };
    HARN_OK(
        audit::for_each_line(fd.get(), path, {.from = tape::head_bytes, .limit = end.slot.size, .longest = tape::longest_line}, take_line));
    if (!problem.empty()) return tape::not_as_recorded(path, problem);
    if (head != end.slot.head) return tape::not_as_recorded(path, "its last line is not the one its head names");
    return {};
  }
};

Tape::Tape(std::unique_ptr<const Parts> parts) : parts_(std::move(parts)) {}
Tape::Tape(Tape&&) noexcept = default;
Tape& Tape::operator=(Tape&&) noexcept = default;
Tape::~Tape() = default;
const AbsPath& Tape::path() const { return parts_->path; }
const std::string& Tape::salt() const { return parts_->end.salt; }
std::uint64_t Tape::names() const { return parts_->names; }
const std::vector<RunRecord>& Tape::records() const { return parts_->records; }
const std::string& Tape::id() const { return parts_->id; }
std::uint64_t Tape::torn_bytes() const { return parts_->end.torn_bytes; }
bool Tape::torn() const { return parts_->end.torn; }
std::uint64_t Tape::repaired_times() const { return parts_->repaired; }

Result<Tape> Tape::open(const AbsPath& path) {
  auto parts = std::make_unique<Parts>();
  parts->fd = sys::UniqueFd(::open(path.text().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!parts->fd) return fail(sys::os_failure("open", path.text(), errno, Stage::load));
  HARN_OK(parts->find_itself(path));
  {
    HARN_TRY(lock, audit::Lock::take(parts->fd.get(), audit::Lock::Kind::shared, path));
    HARN_TRY(end, tape::find_end(parts->fd.get(), path));
    parts->end = end;
  }
  // What is settled does not change any more, whoever appends meanwhile.
  HARN_OK(parts->read_all());
  return Tape(std::move(parts));
}

Result<RunRecord> Tape::whole(std::size_t index) const {
  auto record = parts_->records.at(index);
  for (const auto& piece : parts_->pieces.at(index)) {
    HARN_TRY(text, audit::read_at(parts_->fd.get(), piece.from, piece.bytes, parts_->path));
    HARN_TRY(line, audit::parse_line(text, tape::longest_line));
    HARN_TRY(data, base::parse_json(line.data));
    HARN_TRY(read, read_piece(data));
    (read.stream == "stdout" ? record.out : record.err).bytes += read.bytes;
  }
  for (const auto* output : {&record.out, &record.err}) {
    const bool right = output->bytes.size() <= output->size && (!output->whole() || base::sha256_hex(output->bytes) == output->sha256);
    if (!right) return tape::not_as_recorded(parts_->path, fmt::format("the output of exec {} does not have the hash it names", index + 1));
  }
  return record;
}

}  // namespace harn
