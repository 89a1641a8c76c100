// SPDX-License-Identifier: Apache-2.0
#include "run/supervisor/umasks.h"

#include <poll.h>

namespace harn::run::supervisor {
namespace {

// Only a process can be held this way, not another of its threads.
Fd hold_process(std::uint32_t number) { return Fd(raw_syscall(SYS_pidfd_open, static_cast<Word>(number), 0)); }

bool lives(const Fd& process) {
  pollfd end = {.fd = process.get(), .events = POLLIN, .revents = 0};
  const timespec now = {};
  return raw_syscall(SYS_ppoll, word_of(&end), 1, word_of(&now), 0, 0) == 0;
}

}  // namespace

Umasks::One* Umasks::find(std::uint32_t number) {
  for (auto& one : all_)
    if (one.process && one.number == number) return lives(one.process) ? &one : nullptr;
  return nullptr;
}

void Umasks::keep(std::uint32_t number, Fd process, Word mask) {
  One* place = nullptr;
  for (auto& one : all_)
    if (one.number == number) place = &one;
  if (place == nullptr) place = &all_[next_++ % most];
  place->number = number;
  place->process = static_cast<Fd&&>(process);
  place->mask = mask;
}

// Other threads than the first are looked up each time.
Word Umasks::of(const Caller& caller) {
  const One* known = find(caller.thread());
  if (known != nullptr && known->mask != unsteady) return caller.waits() ? known->mask : -ESRCH;
  if (known != nullptr) return caller.umask();
  Fd process = hold_process(caller.thread());
  const Word mask = caller.umask();
  if (process && mask >= 0) keep(caller.thread(), static_cast<Fd&&>(process), mask);
  return mask;
}

void Umasks::changes(const Caller& caller) {
  const auto number = caller.process();
  if (number == 0) return;
  // Processes may share one mask (CLONE_FS): nobody's is known any more.
  for (auto& one : all_)
    if (one.mask != unsteady) one.process = Fd();
  if (find(number) != nullptr) return;
  if (Fd process = hold_process(number)) keep(number, static_cast<Fd&&>(process), unsteady);
}

}  // namespace harn::run::supervisor
