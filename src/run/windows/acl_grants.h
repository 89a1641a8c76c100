// SPDX-License-Identifier: Apache-2.0
// A plan's grants in the lists of files and directories, and their end. Less inside more is done first, from the inside out:
// at no moment does the container have more than the plan says. Everything is in the journal before it is in a list.
#pragma once

#include <string>
#include <vector>

#include "harn/plan.h"
#include "run/windows/calls.h"
#include "run/windows/journal.h"

namespace harn::run::windows {

// What is done to one path, with one write.
struct PathChange {
  AbsPath path = {};
  bool stops = false;
  std::uint32_t mask = 0;  // granted; 0 = nothing
  bool inherit = false;

  bool operator==(const PathChange&) const = default;
};

// In the order they are made.
std::vector<PathChange> path_changes(const std::vector<AclGrant>& grants);

// Fills in what the journal says about them, saves it, and makes them. After an error undo() takes back what was made.
Status apply_changes(const Calls& calls, const std::vector<PathChange>& changes, Journal& journal);

// Reads every list again: an error names the first that does not say what was written, or that admits the container to more.
Status check_changes(const Calls& calls, const std::string& sid, const std::vector<PathChange>& changes);

// Takes back what the journal names and then the journal and the container. Can be repeated. An error keeps the journal; `notes` tell
// of objects that are not those that were changed any more.
Status undo(const Calls& calls, const Journal& journal, std::vector<std::string>& notes);

// What runs left behind that ended without undoing it. Returns what could not be taken back, for people.
std::vector<std::string> recover(const Calls& calls);

}  // namespace harn::run::windows
