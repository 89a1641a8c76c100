// SPDX-License-Identifier: Apache-2.0
#include "run/supervisor/caller.h"

#include <fcntl.h>
#include <sys/uio.h>

namespace harn::run::supervisor {
namespace {

constexpr Word pidfd_thread = O_EXCL;
constexpr std::uint64_t page = 4096;  // no page is smaller; a larger one is read in parts

}  // namespace

Word Caller::read(std::uint64_t from, void* into, std::size_t size) const {
  iovec ours = {.iov_base = into, .iov_len = size};
  iovec theirs = {.iov_base = reinterpret_cast<void*>(from), .iov_len = size};
  const Word got = raw_syscall(SYS_process_vm_readv, thread_, word_of(&ours), 1, word_of(&theirs), 1, 0);
  if (got < 0) return got == -EFAULT ? got : -EPERM;
  if (static_cast<std::size_t>(got) != size) return -EFAULT;
  return waits() ? 0 : -ESRCH;
}

// Page by page: the text may end just before memory that is not there.
Word Caller::read_text(std::uint64_t from, char* into, std::size_t room, std::size_t& length) const {
  length = 0;
  while (length < room) {
    const std::size_t in_page = page - (from + length) % page;
    const std::size_t wanted = in_page < room - length ? in_page : room - length;
    if (const Word result = read(from + length, into + length, wanted); result < 0) return result;
    for (std::size_t end = length + wanted; length < end; ++length)
      if (into[length] == '\0') return 0;
  }
  return -ENAMETOOLONG;
}

Word Caller::open_object(int descriptor, Fd& out) const {
  if (descriptor < 0) return -EBADF;
  ShortText path;
  path.add("/proc/").add_number(thread_).add("/fd/").add_number(static_cast<std::uint64_t>(descriptor));
  const Word fd = raw_syscall(SYS_openat, AT_FDCWD, word_of(path.c_str()), O_PATH | O_CLOEXEC);
  out = Fd(fd);
  if (fd < 0) return fd == -ENOENT ? -EBADF : -EACCES;
  return waits() ? 0 : -ESRCH;
}

Word Caller::copy(int descriptor, Fd& out) const {
  if (descriptor < 0) return -EBADF;
  // Before Linux 6.9 only a whole process can be held; its threads share their descriptors, unless somebody went out of the way.
  Fd holder(raw_syscall(SYS_pidfd_open, thread_, pidfd_thread));
  if (!holder) holder = Fd(raw_syscall(SYS_pidfd_open, process(), 0));
  if (!holder) return -EPERM;
  const Word fd = raw_syscall(SYS_pidfd_getfd, holder.get(), descriptor, 0);
  out = Fd(fd);
  if (fd < 0) return fd == -EBADF ? fd : -EPERM;
  return waits() ? 0 : -ESRCH;
}

Word Caller::write(std::uint64_t to, const void* from, std::size_t size) const {
  iovec ours = {.iov_base = const_cast<void*>(from), .iov_len = size};
  iovec theirs = {.iov_base = reinterpret_cast<void*>(to), .iov_len = size};
  if (!waits()) return -ESRCH;
  return raw_syscall(SYS_process_vm_writev, thread_, word_of(&ours), 1, word_of(&theirs), 1, 0) == static_cast<Word>(size) ? 0 : -EFAULT;
}

Word Caller::open_directory(int descriptor, Fd& out) const {
  if (descriptor != AT_FDCWD) return open_object(descriptor, out);
  ShortText path;
  path.add("/proc/").add_number(thread_).add("/cwd");
  const Word fd = raw_syscall(SYS_openat, AT_FDCWD, word_of(path.c_str()), O_PATH | O_DIRECTORY | O_CLOEXEC);
  out = Fd(fd);
  if (fd < 0) return fd == -ENOENT ? -ENOENT : -EACCES;
  return waits() ? 0 : -ESRCH;
}

// "Name:\t0022\n": the name of a process stands before everything that is looked for here, and cannot
// hold a line of its own, because the kernel writes its line ends as \n in two characters.
Word Caller::status_number(std::string_view name, unsigned base, std::uint64_t& number) const {
  ShortText path;
  path.add("/proc/").add_number(thread_).add("/status");
  const Fd file(raw_syscall(SYS_openat, AT_FDCWD, word_of(path.c_str()), O_RDONLY | O_CLOEXEC));
  if (!file) return -EACCES;
  char text[512];
  const Word got = raw_syscall(SYS_read, file.get(), word_of(text), sizeof text);
  if (got <= 0 || !waits()) return -ESRCH;
  const std::string_view all(text, static_cast<std::size_t>(got));
  const auto at = all.find(name);
  if (at == std::string_view::npos) return -EACCES;
  number = 0;
  for (auto digits = at + name.size(); digits < all.size() && all[digits] >= '0' && all[digits] < static_cast<char>('0' + base); ++digits)
    number = number * base + static_cast<std::uint64_t>(all[digits] - '0');
  return 0;
}

std::uint32_t Caller::process() const {
  // Most callers are the first thread of their process, and only a process can be held so.
  if (const Fd leader(raw_syscall(SYS_pidfd_open, static_cast<Word>(thread_), 0)); leader) return waits() ? thread_ : 0;
  std::uint64_t number = 0;
  return status_number("\nTgid:\t", 10, number) == 0 ? static_cast<std::uint32_t>(number) : 0;
}

Word Caller::umask() const {
  std::uint64_t number = 0;
  const Word result = status_number("\nUmask:\t", 8, number);
  return result < 0 ? result : static_cast<Word>(number & 0777);
}

}  // namespace harn::run::supervisor
