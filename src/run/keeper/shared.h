// SPDX-License-Identifier: Apache-2.0
// What the keeper and its holders share. They are processes of one memory: whatever two of them touch is
// touched as a whole.
#pragma once

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>

#include "run/child/raw_syscall.h"
#include "run/keeper/protocol.h"

namespace harn::run::keeper {

using child::raw_syscall;
using child::Word;
using child::word_of;

inline constexpr int most_holders = 512;
inline constexpr Word holder_stack = 64 << 10;  // and as much again for the process that becomes the command
inline constexpr Word stack_bytes = 2 * holder_stack;
inline constexpr Word letter_room = 64 << 10;  // for a letter and its steps, unless they are longer
inline constexpr Word room_bytes = stack_bytes + letter_room;

template <class T>
T load(const T& value) {
  return __atomic_load_n(&value, __ATOMIC_SEQ_CST);
}
template <class T>
void store(T& value, T to) {
  __atomic_store_n(&value, to, __ATOMIC_SEQ_CST);
}

struct Shared;

// One connection, and the command it may bring.
struct Holder {
  Shared* shared = nullptr;
  char* stack = nullptr;  // null = free
  int connection = -1;
  int letterbox = -1;       // a connection arrives here later
  std::uint32_t ready = 0;  // it has given up already what the template gives up
  int pid = 0;
  std::uint32_t rules = 0;    // the rules it has given up everything but, if it has
  std::uint32_t counted = 0;  // among the commands, from the moment one was asked for
};

struct Shared {
  std::uint32_t suspended = 0;
  std::uint32_t execs = 0;  // a session with one does not fall asleep
  std::uint32_t ending = 0;
  std::uint32_t rules = 0;  // counted up when there are more: whoever waits has too few then
  std::uint64_t started_ms = 0;
  std::uint64_t last_ms = 0;  // when a command ended
  std::uint64_t idle_ms = 0;
  std::uint64_t lifetime_ms = 0;
  const child::Step* steps = nullptr;  // of the template
  std::uint32_t step_count = 0;
  int ruleset_fd = -1;
  Freezer freezer = Freezer::none;
  int freezer_fd = -1;
  int members_fd = -1;
  int frozen_fd = -1;
  std::uint32_t frozen = 0;  // who sleeps is in the freezer, and not only stopped
  Holder holders[most_holders] = {};
};

// Time asleep counts: a session that should be over is over.
inline std::uint64_t now_ms() {
  timespec now = {};
  raw_syscall(SYS_clock_gettime, CLOCK_BOOTTIME, word_of(&now));
  return static_cast<std::uint64_t>(now.tv_sec) * 1000 + static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
}

bool is_error(Word answer);
Holder* holder_of(Shared& shared, Word pid);  // null = it is none

// Twice does no harm.
void count(Holder& holder);
void uncount(Holder& holder);

// Everybody but the keeper and its holders, in a group that is frozen: nobody there can tell, and nobody's waiting parent
// is told of a stop. False when that did not work, and then nothing is frozen.
bool freeze(Shared& shared);
void thaw(Shared& shared);

// Everybody but the keeper, its holders and the caller.
void suspend(Shared& shared);
void resume(Shared& shared);

// A process of its own, on its own stack: serves the connection and ends.
int serve_connection(void* holder) noexcept;

}  // namespace harn::run::keeper
