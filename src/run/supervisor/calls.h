// SPDX-License-Identifier: Apache-2.0
// The trapped system calls, each decided and then made on the caller's behalf. A call never goes on in the
// caller itself: what was decided upon is in our hands, not in memory somebody may change.
#pragma once

#include <linux/seccomp.h>

#include "run/supervisor/bound.h"
#include "run/supervisor/rules.h"
#include "run/supervisor/umasks.h"
#include "run/supervisor/walk.h"

namespace harn::run::supervisor {

struct Answer {
  Word value = 0;        // what the call returns, or -errno
  Fd descriptor = {};    // to be given to the caller instead
  bool on_exec = false;  // … and closed there on exec
  bool alone = false;    // … and no longer ours when the call returns
  bool go_on = false;    // nothing is decided here, and it would block: let it wait by itself
  bool counts = false;   // `value` is how much was done
  bool later = false;    // it would block: ask again soon, with `descriptor` kept until then
};

// Where the paths of one call led, for whoever explains a refusal; the first two there are.
struct Trace {
  PathText paths[2] = {};
  bool there[2] = {};
  int count = 0;

  void clear() { count = 0; }
  void add(const Place& place) {
    if (add(place.path.view())) there[count - 1] = place.exists;
  }
  bool add(std::string_view text) {
    if (count == 2 || text.empty()) return false;
    there[count] = true;
    paths[count++].clear().add(text);
    return true;
  }
};

// Whom Unix sockets may reach.
struct Reach {
  std::string_view sockets = {};  // paths, each with a closing zero
  bool abstract_names = false;    // the kernel shows none but the command's own
  Bound* bound = nullptr;
  // On the host's network, every connection is led to a relay on its loopback, and announced there. Port 0: it is not.
  std::uint16_t stream_port = 0;
  std::uint16_t resolver_port = 0;
  int announcements = -1;
};

struct Request {
  const Caller& caller;
  const Rules& rules;
  const Reach& reach;
  Umasks& umasks;
  Fd kept = {};            // from an earlier attempt that was answered `later`
  bool decides = true;     // else the layers around us do
  Trace* trace = nullptr;  // null = nobody asks
  bool guests = false;     // the command may hold files that were opened for it outside

  Allowed at(std::string_view path) const { return decides ? rules.at(path) : Allowed::changing; }
  bool closed_beneath(std::string_view path) const { return decides && rules.closed_beneath(path); }
  void note(const Place& place) const {
    if (trace != nullptr) trace->add(place);
  }
};

// The one place where a decision becomes a refusal.
inline Word refuse() { return -EACCES; }

// `start` is AT_FDCWD or a descriptor of the caller, `path` an address in its memory.
struct At {
  int start = -1;
  std::uint64_t path = 0;
};

// perform.cpp. Every call the filter may trap to be made on behalf.
Answer perform(Request& request, const seccomp_data& call);
// Trapped by a filter that asks for more than this program knows, or refuses it.
inline constexpr Word unknown_call = -EPERM;

// A program with the rights of its owner or group would carry them to whoever starts it. On a directory the group's bit only hands
// down its group.
inline bool lends_rights(unsigned kind, unsigned mode) { return (mode & 06000) != 0 && (kind & 0170000) != 0040000; }

// names.cpp
Word make_directory(const Request& request, At at, unsigned mode);
Word make_node(const Request& request, At at, unsigned mode);
Word make_link(const Request& request, std::uint64_t target, At at);
Word make_hard_link(const Request& request, At from, At to, unsigned flags);
Word remove(const Request& request, At at, unsigned flags);
Word rename(const Request& request, At from, At to, unsigned flags);
// May this name come into being, or cease? The directory that holds it must be open to changes too.
bool may_change_name(const Request& request, const Place& place);
// A pipe, a socket or memory: no place in the file system, so it belongs to whoever holds it.
bool is_nameless(const Place& place);
Word find(const Request& request, At at, Last last, Place& place);
// The kernel applies it where no default ACL says otherwise, so it is set and not subtracted.
Word take_umask(const Request& request);

// guests.cpp. A regular file of a mount that is not ours: given for what it was opened for, and nothing else.
bool is_guest(const Request& request, const Place& place);

// opens.cpp
Answer open(Request& request, At at, unsigned flags, unsigned mode);

// sockets.cpp
Answer connect(Request& request, int descriptor, std::uint64_t from, unsigned size);
Word bind(const Request& request, int descriptor, std::uint64_t from, unsigned size);
Word listen(const Request& request, int descriptor, int backlog);
// SO_REUSEADDR and SO_REUSEPORT on the host's network.
Word share_no_port(const Request& request, int descriptor);

// sends.cpp
struct Message {
  int descriptor = -1;
  std::uint64_t text = 0;
  std::uint64_t size = 0;
  unsigned flags = 0;
  std::uint64_t address = 0;
  unsigned address_size = 0;
};
Answer send_to(const Request& request, const Message& call);
Answer send_message(const Request& request, int descriptor, std::uint64_t from, unsigned flags);
Answer send_messages(const Request& request, int descriptor, std::uint64_t from, unsigned count, unsigned flags);

// signals.cpp
Word send_signal(const Request& request, const seccomp_data& call);
Word set_owner(const Request& request, int descriptor, int command, std::uint64_t argument);

// metadata.cpp. Without a path (`descriptor`), the object the caller holds.
struct Target {
  At at = {};
  bool descriptor = false;
  Last last = Last::follow;
};
Word change_mode(const Request& request, const Target& target, unsigned mode);
Word change_owner(const Request& request, const Target& target, unsigned user, unsigned group);
enum class Times : std::uint8_t {
  timespecs,
  timevals,
  utimbuf
};
Word change_times(const Request& request, const Target& target, std::uint64_t times, Times shape);
struct Attribute {
  std::uint64_t name = 0;
  std::uint64_t value = 0;
  std::uint64_t size = 0;
  unsigned flags = 0;
};
Word set_attribute(const Request& request, const Target& target, const Attribute& attribute);
Word remove_attribute(const Request& request, const Target& target, std::uint64_t name);
Word truncate(const Request& request, At at, Word length);
Word change_flags(const Request& request, int descriptor, unsigned command, std::uint64_t argument);

}  // namespace harn::run::supervisor
