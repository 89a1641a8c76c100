// SPDX-License-Identifier: Apache-2.0
#include "session/snapshots.h"

#include <errno.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "run/kept.h"
#include "session/contained.h"
#include "session/errors.h"
#include "session/life.h"
#include "snapshot/store.h"
#include "sys/random_number.h"

namespace harn::session {
namespace {

using Ask = run::keeper::Kind;

snapshot::Store store_of(const Places& places) { return snapshot::Store(places.records.parent().join("snapshots")); }

std::vector<snapshot::Tree> trees_of(const Record& record) {
  std::vector<snapshot::Tree> out = {{.name = "root", .place = record.root}};
  for (const auto& shown : record.mounts)
    if (shown.own) out.push_back({.name = shown.target.text(), .place = shown.source});
  return out;
}

SandboxSnapshot told(const snapshot::Snapshot& taken, const std::string& backend) {
  return {.session_id = {taken.session},
          .backend = backend,
          .snapshot_id = taken.id,
          .metadata = {{"bytes", std::to_string(taken.bytes)},
                       {"new_bytes", std::to_string(taken.new_bytes)},
                       {"files", std::to_string(taken.files)},
                       {"skipped", std::to_string(taken.skipped.size())},
                       {"created_ms", std::to_string(taken.created_ms)}}};
}

// Nobody inside changes files under our hands; whoever was awake goes on afterwards.
class Stopped {
 public:
  // A container in which nothing runs need not be stopped; one in which something does must be.
  static SandboxResult<Stopped> all(const Places& places, const Record& record) {
    Stopped out(places, record);
    if (record.kept) {
      const auto before = run::ask_keeper(record.socket, Ask::state);
      out.was_awake_ = before && before->suspended == 0 && run::ask_keeper(record.socket, Ask::suspend).has_value();
    } else if (record.contained() && is_busy(places, record) && container_state(places, record) == SandboxState::running) {
      HARN_SESSION_PASS(pause_container(places, record, /*asleep=*/true));
      out.was_awake_ = true;
    }
    return out;
  }
  Stopped(Stopped&& other) noexcept
      : places_(other.places_), record_(std::move(other.record_)), was_awake_(std::exchange(other.was_awake_, false)) {}
  Stopped& operator=(Stopped&&) = delete;
  ~Stopped() {
    if (was_awake_ && record_.kept) (void)run::ask_keeper(record_.socket, Ask::resume);
    else if (was_awake_) (void)pause_container(places_, record_, /*asleep=*/false);
  }

 private:
  Stopped(const Places& places, Record record) : places_(places), record_(std::move(record)) {}

  const Places& places_;
  Record record_;  // a copy: the caller may hand its own on before this goes
  bool was_awake_ = false;
};

// The newest of the same session: what has not changed since need not be read.
std::optional<snapshot::Snapshot> newest_of(const snapshot::Store& store, const std::string& session) {
  std::optional<snapshot::Snapshot> out;
  const auto names = store.ids();
  if (!names) return out;
  for (const auto& name : *names)
    if (auto one = store.load(name); one && one->session == session && (!out || one->created_ms > out->created_ms)) out = std::move(*one);
  return out;
}

bool same_files(const std::vector<snapshot::Listed>& one, const std::vector<snapshot::Listed>& other) {
  const auto same_entry = [](const snapshot::Entry& a, const snapshot::Entry& b) {
    return a.path == b.path && a.type == b.type && a.mode == b.mode && a.content == b.content;
  };
  return std::ranges::equal(one, other, [&](const snapshot::Listed& a, const snapshot::Listed& b) {
    return a.tree == b.tree && std::ranges::equal(a.entries, b.entries, same_entry);
  });
}

// People work in a project while a session has it: what they wrote since is in no snapshot of the session.
SandboxResult<std::string> keep_what_is_there(const snapshot::Store& store, const Record& record) {
  if (record.own_root) return std::string();
  const auto before = newest_of(store, record.id);
  snapshot::Snapshot named{.id = fmt::format("kept-{:016x}", sys::random_number()), .session = record.id, .created_ms = now_ms()};
  HARN_SESSION_TRY(kept, store.take(trees_of(record), std::move(named), before ? &*before : nullptr), io);
  HARN_SESSION_TRY(others, store.ids(), io);
  const bool known = std::ranges::any_of(others, [&](const std::string& id) {
    const auto other = id == kept.id ? std::nullopt : std::optional(store.load(id));
    return other && *other && same_files((*other)->trees, kept.trees);
  });
  if (!known) return kept.id;
  HARN_SESSION_OK(store.remove(kept.id), io);
  return std::string();
}

}  // namespace

SandboxResult<SandboxSnapshot> take_snapshot(const Places& places, const std::string& id, const std::string& name) {
  if (!name.empty()) HARN_SESSION_PASS(check_id(name));
  HARN_SESSION_PASS(live(places, id));
  HARN_SESSION_TAKE(lock, held(places, id));
  HARN_SESSION_TAKE(record, live(places, id));
  if (record.overlay)
    return unsupported(record.backend, "snapshots of a session whose changes wait",
                       "'harn apply --session' or 'harn diff --session' has them");
  const auto store = store_of(places);
  const auto before = newest_of(store, id);
  HARN_SESSION_TAKE(stopped, Stopped::all(places, record));
  snapshot::Snapshot named{
      .id = name.empty() ? fmt::format("snap-{:016x}", sys::random_number()) : name, .session = id, .created_ms = now_ms()};
  auto taken = store.take(trees_of(record), std::move(named), before ? &*before : nullptr);
  if (!taken && taken.error().os_error == EEXIST)
    return fail_with(Kind::invalid_request, taken.error().message, taken.error().hint, EEXIST);
  if (!taken) return std::unexpected(from(std::move(taken).error(), Kind::io));
  return told(*taken, record.backend);
}

SandboxResult<std::vector<SandboxSnapshot>> snapshots(const Places& places) {
  const auto store = store_of(places);
  HARN_SESSION_TRY(names, store.ids(), io);
  std::vector<SandboxSnapshot> out;
  for (const auto& name : names)
    if (const auto one = store.load(name)) {
      // Files are files: they can be brought back into a session of any backend, and the one they come from may be gone.
      const auto record = load(places, one->session);
      out.push_back(told(*one, record ? record->backend : "local"));
    }
  return out;
}

SandboxResult<Restored> restore_snapshot(const Places& places, const std::string& snapshot, const std::string& id) {
  HARN_SESSION_PASS(check_id(snapshot));
  HARN_SESSION_PASS(live(places, id));
  HARN_SESSION_TAKE(lock, held(places, id));
  HARN_SESSION_TAKE(record, live(places, id));
  if (record.overlay) return unsupported(record.backend, "restoring into a session whose changes wait", "restore into another session");
  const auto store = store_of(places);
  const auto loaded = store.load(snapshot);
  if (!loaded && loaded.error().os_error == ENOENT)
    return fail_with(Kind::invalid_request, fmt::format("there is no snapshot {}", base::quoted(snapshot)),
                     "'harn session snapshot --list' shows those there are");
  if (!loaded) return std::unexpected(from(loaded.error(), Kind::io));
  if (record.kept) {
    auto state = run::ask_keeper(record.socket, Ask::state);
    // A command that has answered is counted for a moment longer.
    for (int i = 0; i < 100 && state && state->execs != 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      state = run::ask_keeper(record.socket, Ask::state);
    }
    if (!state) return gone(id);
    if (state->execs != 0)
      return fail_with(Kind::lifecycle, fmt::format("{} command(s) run in {}", state->execs, base::quoted(id)),
                       "wait until they have ended");
  }
  if (record.contained() && is_busy(places, record))
    return fail_with(Kind::lifecycle, fmt::format("commands run in {}", base::quoted(id)), "wait until they have ended");
  HARN_SESSION_TAKE(stopped, Stopped::all(places, record));
  HARN_SESSION_TAKE(kept, keep_what_is_there(store, record));
  for (const auto& tree : trees_of(record)) {
    const auto found = std::ranges::find(loaded->trees, tree.name, &snapshot::Listed::tree);
    if (found != loaded->trees.end()) HARN_SESSION_OK(store.restore(*found, tree.place), io);
  }
  return Restored{.record = std::move(record), .kept = std::move(kept)};
}

SandboxResult<void> remove_snapshot(const Places& places, const std::string& snapshot) {
  HARN_SESSION_PASS(check_id(snapshot));
  auto removed = store_of(places).remove(snapshot);
  if (!removed && removed.error().os_error == ENOENT)
    return fail_with(Kind::invalid_request, fmt::format("there is no snapshot {}", base::quoted(snapshot)));
  if (!removed) return std::unexpected(from(std::move(removed).error(), Kind::io));
  return {};
}

}  // namespace harn::session
