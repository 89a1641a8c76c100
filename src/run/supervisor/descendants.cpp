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

}  // namespace

void list_children(std::uint64_t process, Found& found) {
  found.count = 0;
  add_children_of(process, found);
}

// Newest first: of processes that flee by forking and ending, the newest is the one that lives.
void signal_descendants(int number, Found& found) {
  list_children(static_cast<std::uint64_t>(raw_syscall(SYS_getpid)), found);
  while (found.count != 0) {
    const auto process = found.pids[--found.count];
    raw_syscall(SYS_kill, static_cast<Word>(process), number);
    add_children_of(process, found);
  }
}

}  // namespace harn::run::supervisor
