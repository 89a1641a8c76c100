// SPDX-License-Identifier: Apache-2.0
// The way into a session that is kept: all that a command needs to know of it, and nothing else. A copy as bytes
// lies beside the record, because a program that only starts one command would spend most of its time on reading the record,
// the policy and the plan. The copy names the record it was made from; once that is another one, it is nothing.
#pragma once

#include "harn/plan.h"
#include "harn/policy.h"
#include "session/record.h"

namespace harn::session {

struct Entry {
  std::string id = {};
  std::string backend = {};
  std::string boot_id = {};
  AbsPath socket = {};
  AbsPath root = {};
  std::vector<Shown> mounts = {};
  std::vector<AbsPath> workspace_roots = {};
  std::vector<AbsPath> read_only_roots = {};
  EnvRules env = {};
  std::map<std::string, std::string> env_added = {};
  std::set<std::string> blocked_commands = {};
  bool network_closed = false;    // every socket is refused, on top of what the view's filter refuses
  std::string relay_secret = {};  // of the session's relay; empty = no host is named
  std::string arch = {};          // of the view's syscall filter; empty = it has none
  std::vector<std::string> proofs = {};
  std::string plan_digest = {};
  std::string sleep = {};  // what puts it to sleep
  sys::CgroupPlaces cgroups = {};
  Backend plan_backend = Backend::linux;
  Profile profile = Profile::os_hardened;
  LimitPlan limits = {};
  std::vector<AbsPath> watched_names = {};  // protected ones that did not exist

  bool operator==(const Entry&) const = default;
};

// `light` is what exec_file() holds.
Entry entry_of(const Record& record, const Policy& policy, const Plan& light);

std::string pack(const Entry& entry);
std::optional<Entry> unpack(std::string_view bytes);

// Which record it was: replaced files are other files.
struct RecordMark {
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t changed_ns = 0;

  bool operator==(const RecordMark&) const = default;
};
std::optional<RecordMark> mark_of(const AbsPath& place);

// Nothing where there is no copy, or it is of another record or another program: then the record has to be read.
std::optional<Entry> find_entry(const AbsPath& place);
// `mark` was taken before the record was read. A copy that cannot be kept costs time and nothing else.
void keep_entry(const AbsPath& place, const Entry& entry, const RecordMark& mark);
void drop_entry(const AbsPath& place);

}  // namespace harn::session
