// SPDX-License-Identifier: Apache-2.0
// What the init program and the supervisor say to each other, over two pipes.
#pragma once

namespace harn::run::init {

inline constexpr int status_fd = 3;
inline constexpr int control_fd = 4;
inline constexpr int command_pid = 2;  // the first process after init in a pid namespace
inline constexpr int abandoned_exit = 125;
inline constexpr unsigned char to_everybody = 0x80;
inline constexpr unsigned char measure = 0x7f;  // no signal has this number

struct Record {
  enum Kind : int {
    ended = 1,     // `status`, as wait() gives it
    swept = 2,     // everybody else is gone too
    stopped = 3,   // by the terminal or a signal; `status`
    measured = 4,  // `shared_pages`, answering `measure`
    resumed = 5,   // everybody got SIGCONT; what was stopped before is stopped no more
  };
  int kind = 0;
  int status = 0;
  unsigned long killed = 0;        // processes that were still alive when the command ended
  unsigned long cpu_us = 0;        // of everybody reaped
  unsigned long max_rss_kb = 0;    // of the largest single process
  unsigned long blocks_out = 0;    // of 512 bytes, written to disks by everybody reaped
  unsigned long bytes_out = 0;     // handed to write() by everybody reaped; only told beside an exit code that needs it
  unsigned long shared_pages = 0;  // System V segments of the namespace, attached or not
};

}  // namespace harn::run::init
