// SPDX-License-Identifier: Apache-2.0
#include "run/windows/journal.h"

#include <fmt/format.h>

#include "base/json.h"
#include "run/windows/sddl.h"

namespace harn::run::windows {
namespace {

using base::Value;
using base::ValueKind;

constexpr std::string_view version = "harn.acl_journal.v2";

std::unexpected<Error> wrong(std::string_view what) {
  return fail(Error{.code = ErrorCode::protocol,
                    .stage = Stage::prepare,
                    .message = fmt::format("the journal is not one of this version: {}", what),
                    .hint = "finish with the version of Harn that wrote it, or look at the paths it names and delete it"});
}

// Members are all there, in any order, and there are no others.
class Members {
 public:
  explicit Members(const Value& value) : value_(value) {}

  const Value* take(std::string_view name, ValueKind kind) {
    const auto* found = value_.find(name);
    ++taken_;
    if (found == nullptr || !found->is(kind)) problem_ = problem_.empty() ? fmt::format("'{}' is missing or wrong", name) : problem_;
    return problem_.empty() ? found : nullptr;
  }
  std::string text(std::string_view name) {
    const auto* found = take(name, ValueKind::string);
    return found == nullptr ? std::string() : found->string();
  }
  bool boolean(std::string_view name) {
    const auto* found = take(name, ValueKind::boolean);
    return found != nullptr && found->boolean();
  }
  std::uint64_t number(std::string_view name) {
    const auto* found = take(name, ValueKind::integer);
    return found == nullptr ? 0 : static_cast<std::uint64_t>(found->integer());
  }
  Status done() const {
    if (!problem_.empty()) return wrong(problem_);
    if (value_.object().size() != taken_) return wrong("it has members nobody knows");
    return {};
  }

 private:
  const Value& value_;
  std::size_t taken_ = 0;
  std::string problem_ = {};
};

Value change_value(const JournalChange& change) {
  base::Array copies(change.copies.begin(), change.copies.end());
  Value out;
  out.set("path", change.path.text());
  out.set("identity", change.identity);
  out.set("stops", change.stops);
  out.set("stopped_before", change.stopped_before);
  out.set("copies", std::move(copies));
  return out;
}

Result<JournalChange> change_from(const Value& value) {
  if (!value.is(ValueKind::object)) return wrong("a change is no object");
  Members members(value);
  const auto path = members.text("path");
  JournalChange out{
      .identity = members.text("identity"), .stops = members.boolean("stops"), .stopped_before = members.boolean("stopped_before")};
  const auto* copies = members.take("copies", ValueKind::array);
  HARN_OK(members.done());
  HARN_TRY(parsed, AbsPath::parse(path));
  out.path = std::move(parsed);
  for (const auto& copy : copies->array()) {
    if (!copy.is(ValueKind::string)) return wrong("a copied entry is no text");
    out.copies.push_back(copy.string());
  }
  return out;
}

}  // namespace

std::string journal_to_json(const Journal& journal) {
  base::Array changes;
  for (const auto& change : journal.changes) changes.push_back(change_value(change));
  Value out;
  out.set("version", version);
  out.set("container", journal.container);
  out.set("sid", journal.sid);
  out.set("owner", journal.owner);
  out.set("started", journal.started);
  out.set("changes", std::move(changes));
  return base::print_json(out, 1) + "\n";
}

Result<Journal> journal_from_json(std::string_view text) {
  HARN_TRY(value, base::parse_json(text));
  if (!value.is(ValueKind::object)) return wrong("it is no object");
  Members members(value);
  if (members.text("version") != version) return wrong("its version is another");
  Journal out{.container = members.text("container"),
              .sid = members.text("sid"),
              .owner = members.number("owner"),
              .started = members.number("started")};
  const auto* changes = members.take("changes", ValueKind::array);
  HARN_OK(members.done());
  // Its entries are removed wherever a change is named: it must not be anybody else's.
  if (!is_package_sid(out.sid)) return wrong("its SID is not that of a container");
  for (const auto& entry : changes->array()) {
    HARN_TRY(change, change_from(entry));
    out.changes.push_back(std::move(change));
  }
  return out;
}

}  // namespace harn::run::windows
