// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "run/kept.h"
#include "session/contained.h"
#include "session/errors.h"
#include "session/life.h"
#include "session/overlay.h"
#include "sys/files.h"

namespace harn::session {
namespace {

constexpr std::size_t most_names = 100'000;

// Ids that something exists for in this directory.
void add_names(const AbsPath& directory, std::set<std::string>& out) {
  const auto names = sys::list_directory(directory, most_names);
  if (!names) return;
  for (const auto& name : *names)
    if (check_id(name)) out.insert(name);
}

bool answers(const AbsPath& socket) { return run::connect_in(socket).has_value(); }

// A directory without a record: whoever was making or removing it is gone, or has not written one yet.
Record nameless(const Places& places, const std::string& id) {
  Record out{.id = id};
  out.socket = socket_of(places, id);
  return out;
}

SandboxResult<bool> clear(const Places& places, const std::string& id) {
  std::optional<sys::UniqueFd> lock;
  if (sys::type_of(place_of(places, id)) == sys::FileType::missing) {
    // Nobody can take the name while we hold it.
    if (::mkdir(place_of(places, id).text().c_str(), 0700) != 0) return false;
  }
  auto held = hold(places, id, /*wait=*/false);
  if (!held || !*held) return false;
  auto loaded = load(places, id);
  const auto record = loaded ? *loaded : nameless(places, id);
  if (record.contained()) {
    if (record.ready && container_state(places, record) != SandboxState::terminated) return false;
    HARN_SESSION_PASS(end_container(places, record));
    HARN_SESSION_OK(forget(places, record), lifecycle);
    return true;
  }
  const bool same_boot = record.boot_id.empty() || record.boot_id == boot_id();
  const bool alive = same_boot && answers(record.socket);
  if (loaded && record.ready && (!record.kept || alive)) return false;
  // What somebody made and nobody looked at is not garbage.
  if (loaded && record.ready && record.overlay && changes_wait(places, record)) return false;
  if (alive) HARN_SESSION_OK(run::end_keeper(record.socket, record.keeper), lifecycle);
  HARN_SESSION_PASS(end_cgroup(record));
  HARN_SESSION_OK(forget(places, record), lifecycle);
  return true;
}

}  // namespace

SandboxResult<std::vector<std::string>> collect_garbage(const Places& places) {
  std::set<std::string> known;
  add_names(places.records, known);
  add_names(places.files, known);
  add_names(places.runtime, known);
  std::vector<std::string> out;
  for (const auto& id : known) {
    HARN_SESSION_TAKE(cleared, clear(places, id));
    if (cleared) out.push_back(id);
  }
  return out;
}

}  // namespace harn::session
