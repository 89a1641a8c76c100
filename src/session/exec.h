// SPDX-License-Identifier: Apache-2.0
// One command in a session, for the library and the command line alike.
#pragma once

#include "harn/sandbox.h"
#include "session/record.h"

namespace harn::session {

AbsPath plan_file(const Places& places, const std::string& id);  // the whole plan of the view
AbsPath exec_file(const Places& places, const std::string& id);  // what every command needs of it
AbsPath busy_file(const Places& places, const std::string& id);  // locked while a command runs

// What was read for one session, to be used again while nobody changes it.
struct Ready {
  Record record = {};
  Policy policy = {};
  Plan light = {};
};
SandboxResult<Ready> make_ready(const Places& places, Record record, const AbsPath& home);

struct Call {
  std::vector<std::string> argv = {};
  std::optional<std::string> cwd = {};
  std::map<std::string, std::string> env = {};  // beyond the caller's environment
  std::optional<std::chrono::nanoseconds> timeout = {};
  bool keeps_processes = false;
  bool own_terminal = false;  // standard input is a terminal that becomes the command's
  RunOptions options = {};
};

// The shorter one counts.
void shorten(std::optional<std::uint64_t>& limit_ms, const std::optional<std::chrono::nanoseconds>& time);

SandboxResult<Outcome> run_in(const Places& places, const Ready& ready, const embed::Environment& environment, Call call);

}  // namespace harn::session
