// SPDX-License-Identifier: Apache-2.0
#include "run/ending.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>

#include "sys/descriptors.h"

namespace harn::run {
namespace {

// A shell outlives what it runs and tells of a signal as 128 and its number, and a command may exit with the same number by itself.
// It is believed where the kernel counted that much written: whoever meets the limit of a file has.
bool met_file_size(const Ended& ended) {
  if (!ended.file_size_limit) return false;
  const int status = ended.wait_status;
  if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGXFSZ;
  return WEXITSTATUS(status) == told_by_shell + SIGXFSZ && ended.written_bytes >= *ended.file_size_limit / 2;
}

}  // namespace

void settle_ending(const Ended& ended, Outcome& outcome) {
  const int status = ended.wait_status;
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  outcome.exit_code = signal != 0 ? -signal : WEXITSTATUS(status);
  outcome.oom_killed = ended.memory_spent;
  outcome.processes_exceeded = ended.processes_spent;
  outcome.cpu_exceeded = ended.cpu_spent || (ended.cpu_limited && signal == SIGXCPU);
  outcome.file_size_exceeded = met_file_size(ended);
  outcome.timed_out = ended.deadline_passed || outcome.cpu_exceeded;
  // Whatever the command made of our SIGTERM, the limit ended it.
  if (ended.memory_spent) outcome.exit_code = -SIGKILL;
  if (ended.cpu_spent) outcome.exit_code = -SIGXCPU;
}

void add_usage(const rusage& used, Usage& usage) {
  usage.cpu_ms += static_cast<std::uint64_t>((used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000 +
                                             (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000);
  usage.max_memory_bytes = std::max(usage.max_memory_bytes, sys::max_resident_bytes(used));
  usage.written_bytes += static_cast<std::uint64_t>(used.ru_oublock) * block_bytes;
}

}  // namespace harn::run
