// SPDX-License-Identifier: Apache-2.0
// What the first program of a container tells the launcher, through a named pipe that only it can open:
// the launcher takes all rights from the pipe once the first record is there, and no command runs before.
#pragma once

namespace harn::run::entry {

inline constexpr const char* directory = "/.harn";  // where the launcher's files appear inside, read-only

enum Door : unsigned {
  reads = 1,        // the canary could be opened for reading
  writes = 2,       // … for writing
  signals = 4,      // the launcher could be signalled
  network = 8,      // a socket could be had
  unwritable = 16,  // the workspace cannot be written although the caller can
};

enum Limits : int {
  limits_processes = 1,
  limits_memory = 2,
  counts_cpu = 4,
};

struct Record {
  enum Kind : int {
    ready = 1,        // `doors` were found open; nothing else has run yet
    not_started = 2,  // `error` of exec
    ended = 3,        // everybody is gone
  };
  int kind = 0;
  unsigned doors = 0;
  int status = 0;  // as wait() gives it; of mode "limits": what is there
  int error = 0;
  unsigned long killed = 0;      // processes that were still alive when the command ended
  unsigned long cpu_us = 0;      // of everybody reaped
  unsigned long max_rss_kb = 0;  // of the largest single process
  unsigned long blocks_out = 0;  // of 512 bytes, written to disks
  unsigned long bytes_out = 0;   // handed to write(); only told beside an exit code that needs it
  unsigned long oom_kills = 0;   // by the kernel, in this container, while the command ran
  unsigned long refused_forks = 0;
  unsigned long cpu_spent = 0;  // 1 = everybody was ended for their processor time together
};

}  // namespace harn::run::entry
