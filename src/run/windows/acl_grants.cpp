// SPDX-License-Identifier: Apache-2.0
#include "run/windows/acl_grants.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "run/windows/sddl.h"

namespace harn::run::windows {
namespace {

std::unexpected<Error> refused(std::string message, std::string hint) {
  return fail(Error{.code = ErrorCode::refused, .stage = Stage::prepare, .message = std::move(message), .hint = std::move(hint)});
}

Result<Dacl> dacl_of(const Calls& calls, const AbsPath& path) {
  HARN_TRY(text, calls.read_dacl(path));
  HARN_TRY(dacl, parse_dacl(text));
  if (dacl.null)
    return refused(fmt::format("{} has no access control list, so every container may use it", base::quoted(path.text())),
                   "put the files on an NTFS volume, and give the directory a list");
  return dacl;
}

// Journals of other runs; what cannot be read says nothing about anybody.
Result<std::vector<Journal>> other_journals(const Calls& calls, const std::string& own) {
  HARN_TRY(texts, calls.list_journals());
  std::vector<Journal> out;
  for (const auto& [name, text] : texts) {
    if (name == own) continue;
    auto journal = journal_from_json(text);
    if (journal) out.push_back(std::move(*journal));
  }
  return out;
}

// Another run that ends inheritance at the same path: who goes last lets it begin again.
const JournalChange* stopped_by_another(const std::vector<Journal>& others, const AbsPath& path) {
  for (const auto& journal : others)
    for (const auto& change : journal.changes)
      if (change.stops && change.path == path) return &change;
  return nullptr;
}

Result<JournalChange> planned(const Calls& calls, const PathChange& change, const std::vector<Journal>& others) {
  HARN_TRY(dacl, dacl_of(calls, change.path));
  JournalChange out{.path = change.path, .stops = change.stops};
  if (!change.stops) return out;
  if (const auto* other = stopped_by_another(others, change.path)) {
    out.stopped_before = other->stopped_before;
    out.copies = other->copies;
  } else if (dacl.is_protected) {
    out.stopped_before = true;
  } else {
    out.copies = stop_inheritance(dacl);
  }
  return out;
}

// A command that ran before may have put a link where the plan saw a directory.
bool leads_elsewhere(const Pinned& pin, const AbsPath& path) {
  return pin.followed || base::lower_ascii(pin.really.text()) != base::lower_ascii(path.text());
}

Result<Pinned> pinned(const Calls& calls, const AbsPath& path) {
  HARN_TRY(pin, calls.pin(path));
  if (leads_elsewhere(pin, path))
    return refused(
        fmt::format("{} leads to {} now, which is not what was planned", base::quoted(path.text()), base::quoted(pin.really.text())),
        "name the real directory in the policy, and try again");
  return pin;
}

Status apply_one(const Calls& calls, const std::string& sid, const PathChange& change) {
  HARN_TRY(dacl, dacl_of(calls, change.path));
  if (change.stops && !dacl.is_protected) stop_inheritance(dacl);
  if (change.mask != 0) add_entry(dacl, container_ace(sid, change.mask, change.inherit));
  return calls.write_dacl(change.path, dacl.text());
}

// By now the command, or somebody else, may have put another object there, or a link on the way to it: whose list that is, nobody
// knows, and it stays as it is.
Status undo_one(const Calls& calls, const Journal& journal, const JournalChange& change, const std::vector<Journal>& others,
                std::vector<std::string>& notes) {
  const auto pin = calls.pin(change.path);
  if (!pin && pin.error().code == ErrorCode::io) return {};  // the command removed it, and its list with it
  if (!pin) return fail(pin.error());
  if (leads_elsewhere(*pin, change.path) || pin->identity != change.identity) {
    notes.push_back(
        fmt::format("{} is not what it was when access was granted to it; its list is left as it is", base::quoted(change.path.text())));
    return {};
  }
  HARN_TRY(text, calls.read_dacl(change.path));
  HARN_TRY(dacl, parse_dacl(text));
  const auto before = dacl;
  remove_entries_of(dacl, journal.sid);
  const bool last = change.stops && !change.stopped_before && stopped_by_another(others, change.path) == nullptr;
  if (last && dacl.is_protected) resume_inheritance(dacl, change.copies);
  return dacl == before ? Status() : calls.write_dacl(change.path, dacl.text());
}

// With the lock held.
Status undo_locked(const Calls& calls, const Journal& journal, std::vector<std::string>& notes) {
  HARN_TRY(others, other_journals(calls, journal.container));
  Status problem;
  for (auto change = journal.changes.rbegin(); change != journal.changes.rend(); ++change) {
    auto undone = undo_one(calls, journal, *change, others, notes);
    if (!undone && problem) problem = std::move(undone);
  }
  HARN_OK(std::move(problem));
  HARN_OK(calls.delete_container(journal.container));
  return calls.remove_journal(journal.container);
}

// Names in any letter case are the same, and the journal is where its name leads.
Status check_journal_is_ours(const Calls& calls, const std::vector<PathChange>& changes) {
  HARN_TRY(journal, calls.pin(calls.journal_directory));
  const auto holds = [](const AbsPath& path, const AbsPath& inner) {
    const auto outer = AbsPath::parse(base::lower_ascii(path.text()));
    const auto there = AbsPath::parse(base::lower_ascii(inner.text()));
    return !outer || !there || outer->contains(*there);
  };
  for (const auto& change : changes)
    if (change.mask == modify && (holds(change.path, journal.really) || holds(change.path, calls.journal_directory)))
      return refused(fmt::format("the policy opens {} for writing, and Harn's own journal is in it, at {}",
                                 base::quoted(change.path.text()), base::quoted(calls.journal_directory.text())),
                     "name a narrower directory");
  return {};
}

Status check_one(const Calls& calls, const std::string& sid, const PathChange& change) {
  HARN_TRY(dacl, dacl_of(calls, change.path));
  const auto where = base::quoted(change.path.text());
  if (change.stops && !dacl.is_protected)
    return refused(fmt::format("{} still inherits access, although that was to end here", where), "see 'harn doctor'");
  if (change.mask != 0) {
    const auto wanted = container_ace(sid, change.mask, change.inherit);
    const auto there = std::ranges::any_of(dacl.entries, [&](const Ace& entry) {
      return entry.type == "A" && same_sid(entry.sid, sid) && entry.mask() == change.mask && !entry.inherited() &&
             entry.has_flag("OI") == change.inherit && entry.has_flag("CI") == change.inherit && !entry.has_flag("IO");
    });
    if (!there)
      return refused(fmt::format("the access of the container to {} was set, but is not there: no entry {}", where, wanted.text()),
                     "see 'harn doctor'; on a volume without access control lists nothing can be confined");
  }
  // What every container may do, ours may.
  if (const auto more = allowed_for(dacl, sid) & ~change.mask; more != 0)
    return refused(fmt::format("{} admits every container to more than the policy allows (rights {:#x})", where, more),
                   "remove the entry for ALL APPLICATION PACKAGES there, or allow it in the policy");
  return {};
}

}  // namespace

std::vector<PathChange> path_changes(const std::vector<AclGrant>& grants) {
  std::vector<PathChange> out;
  for (const auto& grant : grants) {
    auto at = std::ranges::find(out, grant.path, &PathChange::path);
    if (at == out.end()) at = out.insert(out.end(), PathChange{.path = grant.path});
    if (grant.stops_inheritance) at->stops = true;
    else at->mask |= grant.modify ? modify : read_and_execute;
    at->inherit = at->inherit || grant.inherit;
  }
  std::ranges::sort(out, [](const PathChange& a, const PathChange& b) {
    if (a.stops != b.stops) return a.stops;
    return a.path.depth() != b.path.depth() ? a.path.depth() > b.path.depth() : a.path < b.path;
  });
  return out;
}

Status apply_changes(const Calls& calls, const std::vector<PathChange>& changes, Journal& journal) {
  HARN_TRY(lock, calls.lock_journals());
  HARN_OK(check_journal_is_ours(calls, changes));
  HARN_TRY(others, other_journals(calls, journal.container));
  std::vector<Held> pins;
  for (const auto& change : changes) {
    HARN_TRY(pin, pinned(calls, change.path));
    HARN_TRY(entry, planned(calls, change, others));
    entry.identity = std::move(pin.identity);
    pins.push_back(std::move(pin.held));
    journal.changes.push_back(std::move(entry));
  }
  HARN_OK(calls.save_journal(journal.container, journal_to_json(journal)));
  for (const auto& change : changes) HARN_OK(apply_one(calls, journal.sid, change));
  return {};
}

Status check_changes(const Calls& calls, const std::string& sid, const std::vector<PathChange>& changes) {
  for (const auto& change : changes) HARN_OK(check_one(calls, sid, change));
  return {};
}

Status undo(const Calls& calls, const Journal& journal, std::vector<std::string>& notes) {
  HARN_TRY(lock, calls.lock_journals());
  return undo_locked(calls, journal, notes);
}

std::vector<std::string> recover(const Calls& calls) {
  std::vector<std::string> notes;
  const auto lock = calls.lock_journals();
  if (!lock) return {lock.error().message};
  const auto texts = calls.list_journals();
  if (!texts) return {texts.error().message};
  for (const auto& [name, text] : *texts) {
    const auto journal = journal_from_json(text);
    if (!journal) {
      notes.push_back(fmt::format("journal {}: {}", base::quoted(name), journal.error().message));
      continue;
    }
    if (calls.is_running(journal->owner, journal->started)) continue;
    if (auto undone = undo_locked(calls, *journal, notes); !undone)
      notes.push_back(fmt::format("what an earlier run changed is not all taken back: {}", undone.error().message));
  }
  return notes;
}

}  // namespace harn::run::windows
