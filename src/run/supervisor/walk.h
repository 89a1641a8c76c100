// SPDX-License-Identifier: Apache-2.0
// Where a path of the caller really leads: followed name by name on descriptors of ours, as the kernel
// would follow it for the caller. The directory it ends in is held; every change of names in the tree
// passes through this one program, so nothing moves between the decision and the act.
#pragma once

#include <sys/stat.h>

#include "run/supervisor/caller.h"

namespace harn::run::supervisor {

enum class Last : std::uint8_t {
  keep,    // a link at the end is what is meant
  follow,  // what it leads to is
};

enum class End : std::uint8_t {
  name,    // `name` in `directory`
  self,    // the directory itself: the path is "/" or ends in a dot
  above,   // the path ends in ".."
  object,  // a link of /proc leads to `object`, which may have no name
};

struct Place {
  Fd directory = {};
  Text<256> name = {};  // as a call beneath `directory` wants it
  Fd object = {};       // with End::object
  End end = End::name;
  bool slash = false;    // a slash follows the last name
  bool exists = false;   // else only the last name is missing
  unsigned mode = 0;     // st_mode, where it exists
  PathText around = {};  // where `directory` is
  PathText path = {};    // where the end is, or would be; may begin with no slash when it has no place ("pipe:[1]")
};

// 0, or -errno as the caller's own call would have failed.
Word walk(const Caller& caller, int start, std::string_view path, Last last, Place& place);
// The place of an object the caller holds: fchmod and its kin.
Word walk_descriptor(const Caller& caller, int descriptor, Place& place);
// The thing at the end, held; a link stays a link.
Word hold(const Place& place, Fd& out);

}  // namespace harn::run::supervisor
