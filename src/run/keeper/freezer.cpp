// SPDX-License-Identifier: Apache-2.0
// Sleep by the kernel's freezer. Commands are not started in its group, which would cost each of them more than all the rest
// of its start: they are moved there when they are to sleep, into a group that is frozen already, until nobody new is found.
#include <fcntl.h>
#include <sys/mman.h>

#include <string_view>

#include "run/keeper/shared.h"
#include "run/supervisor/descendants.h"

namespace harn::run::keeper {
namespace {

using supervisor::Found;

constexpr int most_passes = 64;
constexpr int most_looks = 200;
constexpr long between_looks = 1'000'000;  // nanoseconds

bool put(int fd, std::string_view text) {
  return raw_syscall(SYS_pwrite64, fd, word_of(text.data()), static_cast<Word>(text.size()), 0) == static_cast<Word>(text.size());
}

void say(const Shared& shared, bool frozen) {
  if (shared.freezer == Freezer::v1) put(shared.freezer_fd, frozen ? "FROZEN" : "THAWED");
  else put(shared.freezer_fd, frozen ? "1" : "0");
}

Word enter(int members, std::uint64_t process) {
  char digits[24];
  int at = sizeof digits;
  do digits[--at] = static_cast<char>('0' + process % 10);
  while ((process /= 10) != 0);
  return raw_syscall(SYS_write, members, word_of(digits + at), static_cast<Word>(sizeof digits) - at);
}

struct Pass {
  Shared& shared;
  std::uint64_t sum = 0;  // of who was found
  bool failed = false;
};

// Numbers of processes that sleep do not become others', so two passes that find the same have found everybody.
bool gather(Shared& shared, Found& found) {
  std::uint64_t before = 0;
  for (int i = 0; i < most_passes; ++i) {
    Pass pass{.shared = shared};
    supervisor::each_descendant_of(
        1, found,
        [](std::uint64_t process, void* given) {
          auto& now = *static_cast<Pass*>(given);
          if (holder_of(now.shared, static_cast<Word>(process)) != nullptr) return;
          const Word entered = enter(now.shared.members_fd, process);
          if (entered == -ESRCH) return;
          now.failed = now.failed || entered < 0;
          now.sum += process * process + 1;
        },
        &pass);
    if (pass.failed) return false;
    if (i != 0 && pass.sum == before) return true;
    before = pass.sum;
  }
  return false;
}

// Empty groups count as frozen. What cannot be stopped at once, such as a write to a slow disk, is waited for a little.
bool is_frozen(const Shared& shared) {
  const std::string_view wanted = shared.freezer == Freezer::v1 ? "FROZEN" : "frozen 1";
  for (int i = 0; i < most_looks; ++i) {
    char text[64] = {};
    const Word got = raw_syscall(SYS_pread64, shared.frozen_fd, word_of(text), sizeof text, 0);
    if (got > 0 && std::string_view(text, static_cast<std::size_t>(got)).find(wanted) != std::string_view::npos) return true;
    const timespec pause = {.tv_sec = 0, .tv_nsec = between_looks};
    raw_syscall(SYS_nanosleep, word_of(&pause), 0);
    if (shared.freezer == Freezer::v1) say(shared, true);  // whom it missed is only reached by saying it again
  }
  return false;
}

}  // namespace

bool freeze(Shared& shared) {
  if (shared.freezer == Freezer::none) return false;
  const Word room = raw_syscall(SYS_mmap, 0, sizeof(Found), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (is_error(room)) return false;
  say(shared, true);
  const bool frozen = gather(shared, *reinterpret_cast<Found*>(room)) && is_frozen(shared);
  raw_syscall(SYS_munmap, room, sizeof(Found));
  if (!frozen) say(shared, false);
  store(shared.frozen, frozen ? 1u : 0u);
  return frozen;
}

void thaw(Shared& shared) {
  if (shared.freezer == Freezer::none) return;
  say(shared, false);
  store(shared.frozen, 0u);
}

}  // namespace harn::run::keeper
