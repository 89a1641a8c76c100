// SPDX-License-Identifier: Apache-2.0
// What is remembered of a session between programs: one directory each, for its owner only, with a record that is
// replaced in one step and a lock for whoever changes the session.
#pragma once

#include <sys/types.h>

#include "embed/places.h"
#include "harn/plan.h"
#include "harn/session.h"
#include "sys/cgroup_places.h"
#include "sys/unique_fd.h"

namespace harn::session {

struct Places {
  AbsPath records = {};  // $XDG_STATE_HOME/harn/sessions
  AbsPath files = {};    // $XDG_STATE_HOME/harn-sessions: directories of sessions, which commands may open
  AbsPath runtime = {};  // $XDG_RUNTIME_DIR/harn/sessions-run/…, or beside the records
};
Places places_for(const embed::Environment& environment);
AbsPath records_for(const embed::Environment& environment);  // the records alone, without looking at anything

struct Shown {
  AbsPath target = {};
  AbsPath source = {};
  FilesystemAccess access = FilesystemAccess::read_only;
  bool own = false;  // made for the session, and removed with it

  bool operator==(const Shown&) const = default;
};

struct Record {
  std::string id = {};
  std::string backend = "local";
  bool kept = true;        // by a keeper; otherwise every command is confined anew
  bool ready = false;      // false while it is being made
  bool suspended = false;  // only without a keeper, who knows it himself; a container is woken by the next command
  std::uint64_t created_ms = 0;
  std::string boot_id = {};
  pid_t keeper = -1;
  AbsPath socket = {};  // directory of the keeper's socket
  AbsPath root = {};
  bool own_root = false;
  std::vector<Shown> mounts = {};
  std::map<std::string, std::string> labels = {};
  ResourceLimits limits = {};
  NetworkPolicy network = {};      // in force
  NetworkPolicy provisioned = {};  // what it was made with
  EgressChoices egress = {};       // what the operator said besides, when it was made
  std::vector<std::string> nameservers = {};
  std::string relay_secret = {};  // of whoever names hosts to a relay of its
  std::string policy = {};        // as JSON
  std::string plan_digest = {};
  std::map<std::string, std::string> env_added = {};  // variables that point to places inside
  std::vector<std::string> proofs = {};
  std::string profile = {};
  sys::CgroupPlaces cgroups = {};  // with limits for everybody together
  std::string freezer = {};        // the group in which it sleeps; empty = it is stopped by a signal
  std::string sleep = {};          // what puts it to sleep, as people are told
  bool overlay = false;            // changes of its workspace wait beside its record
  std::string container = {};      // its id; of the backends docker and podman
  std::string image_id = {};

  bool contained() const { return backend != "local"; }
  // What is mounted stands at its target inside.
  bool guest_paths() const { return kept || contained(); }
  bool operator==(const Record&) const = default;
};

// Letters, digits, '.', '_' and '-': an id is the name of a directory.
SandboxResult<void> check_id(const std::string& id);

std::string print_record(const Record& record);
SandboxResult<Record> parse_record(std::string_view text);

// session_not_found where there is none.
SandboxResult<Record> load(const Places& places, const std::string& id);
SandboxResult<void> save(const Places& places, const Record& record);
// A file beside the record. Only what outlives a crash of the machine waits for the disk: containers, changes that wait, and
// sessions that nobody keeps.
Status put_file(const Record& record, const AbsPath& file, std::string_view text);
SandboxResult<std::vector<std::string>> ids(const Places& places);

AbsPath place_of(const Places& places, const std::string& id);
AbsPath files_of(const Places& places, const std::string& id);
AbsPath socket_of(const Places& places, const std::string& id);

// Whoever changes a session holds it. Nothing when somebody else does and `wait` is false.
Result<std::optional<sys::UniqueFd>> hold(const Places& places, const std::string& id, bool wait = true);

// The session's directories and files, its own mounts included.
Status forget(const Places& places, const Record& record);

std::string boot_id();
std::uint64_t now_ms();

}  // namespace harn::session
