// SPDX-License-Identifier: Apache-2.0
// One command in a session, for the library and the command line alike.
#pragma once

#include <variant>

#include "harn/sandbox.h"
#include "run/kept.h"
#include "session/entry.h"
#include "session/record.h"

namespace harn::session {

AbsPath plan_file(const Places& places, const std::string& id);  // the whole plan of the view
AbsPath exec_file(const Places& places, const std::string& id);  // what every command needs of it
AbsPath busy_file(const Places& places, const std::string& id);  // locked while a command runs

// A session that nobody keeps, or an engine does.
struct Ready {
  Record record = {};
  Policy policy = {};
  Plan light = {};
};

// What was read for one session, to be used again while nobody changes it.
using Way = std::variant<Entry, Ready>;
SandboxResult<Way> way_into(const embed::Environment& environment, const std::string& id);

const std::string& backend_of(const Way& way);
const std::vector<AbsPath>& workspace_of(const Way& way);
Profile profile_of(const Way& way);

struct Call {
  std::vector<std::string> argv = {};
  std::optional<std::string> cwd = {};
  std::map<std::string, std::string> env = {};  // beyond the caller's environment
  std::optional<std::chrono::nanoseconds> timeout = {};
  bool keeps_processes = false;
  bool own_terminal = false;  // standard input is a terminal that becomes the command's
  run::Line* line = nullptr;  // borrowed; of a session that is kept
  RunOptions options = {};
};

// While the caller gets ready, the session may.
void get_ready(const Way& way, run::Line& line);

// The shorter one counts.
void shorten(std::optional<std::uint64_t>& limit_ms, const std::optional<std::chrono::nanoseconds>& time);

// `environment` is the one the way was found in.
SandboxResult<Outcome> run_in(const Way& way, const embed::Environment& environment, Call call);

}  // namespace harn::session
