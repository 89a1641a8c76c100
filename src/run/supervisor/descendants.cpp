// SPDX-License-Identifier: Apache-2.0
#include "run/supervisor/descendants.h"

#include <dirent.h>
#include <fcntl.h>

#include "run/supervisor/kernel.h"

namespace harn::run::supervisor {
namespace {

struct DirectoryEntry {
  std::uint64_t inode;
  std::int64_t offset;
  unsigned short length;
  unsigned char type;
  char name[1];
};

void add_children_of_thread(int tasks, const char* thread, Found& found) {
  ShortText path;
  path.add(thread).add("/children");
  const Fd file(raw_syscall(SYS_openat, tasks, word_of(path.c_str()), O_RDONLY | O_CLOEXEC));
  if (!file) return;
  char block[4096];
  std::uint64_t number = 0;
  bool digits = false;
  for (;;) {
    const Word got = raw_syscall(SYS_read, file.get(), word_of(block), sizeof block);
    if (got <= 0) return;
    for (Word i = 0; i < got; ++i) {
      if (block[i] >= '0' && block[i] <= '9') {
        number = number * 10 + static_cast<std::uint64_t>(block[i] - '0');
        digits = true;
        continue;
      }
      if (digits && found.count < Found::most) found.pids[found.count++] = number;
      number = 0;
      digits = false;
    }
  }
}

void add_children_of(std::uint64_t process, Found& found) {
  ShortText path;
  path.add("/proc/").add_number(process).add("/task");
  const Fd tasks(raw_syscall(SYS_openat, AT_FDCWD, word_of(path.c_str()), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!tasks) return;
  alignas(DirectoryEntry) char block[4096];
  for (;;) {
    const Word got = raw_syscall(SYS_getdents64, tasks.get(), word_of(block), sizeof block);
    if (got <= 0) return;
    for (Word at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const DirectoryEntry*>(block + at);
      at += entry->length;
      if (entry->name[0] != '.') add_children_of_thread(tasks.get(), entry->name, found);
    }
  }
}

// A line of /proc/N/status; false when it is not there.
bool read_status(std::uint64_t process, std::string_view line, std::uint64_t& number) {
  ShortText path;
  path.add("/proc/").add_number(process).add("/status");
  const Fd file(raw_syscall(SYS_openat, AT_FDCWD, word_of(path.c_str()), O_RDONLY | O_CLOEXEC));
  char text[512];
  const Word got = file ? raw_syscall(SYS_read, file.get(), word_of(text), sizeof text) : -1;
  if (got <= 0) return false;
  const std::string_view all(text, static_cast<std::size_t>(got));
  const auto at = all.find(line);
  return at != std::string_view::npos && read_number(all.substr(at + line.size()), number) != 0;
}

bool read_parent(std::uint64_t process, std::uint64_t& parent) { return read_status(process, "\nPPid:\t", parent); }

// Whom we hold has its number still, so what was read by the number was about it.
bool lives(const Fd& held) { return raw_syscall(SYS_pidfd_send_signal, held.get(), 0, 0, 0) == 0; }

Word climb(std::uint64_t process, Fd& out) {
  constexpr int deepest = 4096;
  const auto own = static_cast<std::uint64_t>(raw_syscall(SYS_getpid));
  const Word first = raw_syscall(SYS_pidfd_open, static_cast<Word>(process), 0);
  if (first < 0) return first == -ESRCH ? -ESRCH : -EPERM;
  out = Fd(first);
  Fd child(raw_syscall(SYS_fcntl, out.get(), F_DUPFD_CLOEXEC, 0));
  for (int depth = 0; depth < deepest && child; ++depth) {
    std::uint64_t parent = 0;
    if (!read_parent(process, parent) || !lives(child)) return -EAGAIN;
    if (parent == own) return 0;
    if (parent <= 1) return -EPERM;
    // Held first and then read again: the number was its parent's while that was held, and is nobody else's.
    Fd above(raw_syscall(SYS_pidfd_open, static_cast<Word>(parent), 0));
    std::uint64_t again = 0;
    if (!above || !read_parent(process, again) || !lives(child)) return -EAGAIN;
    if (again != parent) return -EAGAIN;
    const Word there = raw_syscall(SYS_pidfd_send_signal, above.get(), 0, 0, 0);
    if (there == -EPERM) return -EPERM;
    if (there < 0) return -EAGAIN;
    child = static_cast<Fd&&>(above);
    process = parent;
  }
  return -EPERM;
}

}  // namespace

void list_children(std::uint64_t process, Found& found) {
  found.count = 0;
  add_children_of(process, found);
}

void each_descendant(Found& found, void (*visit)(std::uint64_t process, void* given), void* given) {
  each_descendant_of(static_cast<std::uint64_t>(raw_syscall(SYS_getpid)), found, visit, given);
}

void each_descendant_of(std::uint64_t above, Found& found, void (*visit)(std::uint64_t process, void* given), void* given) {
  list_children(above, found);
  while (found.count != 0) {
    const auto process = found.pids[--found.count];
    visit(process, given);
    add_children_of(process, found);
  }
}

void signal_descendants(int number, Found& found) {
  each_descendant(
      found, [](std::uint64_t process, void* given) { raw_syscall(SYS_kill, static_cast<Word>(process), *static_cast<int*>(given)); },
      &number);
}

std::uint64_t process_of(std::uint64_t thread) {
  std::uint64_t process = 0;
  return read_status(thread, "\nTgid:\t", process) ? process : 0;
}

// Parents end and children move up to us meanwhile: then once more from the beginning.
Word hold_descendant(std::uint64_t process, Fd& out) {
  constexpr int tries = 8;
  for (int i = 0; i < tries; ++i)
    if (const Word result = climb(process, out); result != -EAGAIN) return result;
  return -EPERM;
}

}  // namespace harn::run::supervisor
