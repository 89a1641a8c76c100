// SPDX-License-Identifier: Apache-2.0
// Mode, owner, times, attributes, length. The object is held first; it is decided by where it is, and
// changed through what is held.
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <time.h>

#include "run/supervisor/calls.h"

namespace harn::run::supervisor {
namespace {

constexpr std::size_t longest_attribute_name = 256;  // XATTR_NAME_MAX and the closing zero
constexpr std::size_t largest_attribute = 65536;

struct Held {
  Fd object = {};
  ShortText path = {};  // /proc/self/fd/N
  unsigned mode = 0;
};

bool may_change(const Request& request, const Place& place) {
  return is_nameless(place) || request.at(place.path.view()) == Allowed::changing;
}

Word take(const Request& request, const Target& target, Held& held) {
  Place place;
  const Word found =
      target.descriptor ? walk_descriptor(request.caller, target.at.start, place) : find(request, target.at, target.last, place);
  if (target.descriptor) request.note(place);
  if (found < 0) return found;
  if (!place.exists) return -ENOENT;
  if (place.slash && !S_ISDIR(place.mode)) return -ENOTDIR;
  if (!may_change(request, place) || is_guest(request, place)) return refuse();
  held.mode = place.mode;
  if (const Word result = hold(place, held.object); result < 0) return result;
  own_descriptor(held.object.get(), held.path);
  return 0;
}

}  // namespace

Word change_mode(const Request& request, const Target& target, unsigned mode) {
  Held held;
  if (const Word result = take(request, target, held); result < 0) return result;
  if (lends_rights(held.mode, mode)) return -EPERM;
  return raw_syscall(SYS_fchmodat, AT_FDCWD, word_of(held.path.c_str()), mode);
}

Word change_owner(const Request& request, const Target& target, unsigned user, unsigned group) {
  Held held;
  if (const Word result = take(request, target, held); result < 0) return result;
  return raw_syscall(SYS_fchownat, held.object.get(), word_of(""), user, group, AT_EMPTY_PATH);
}

Word change_times(const Request& request, const Target& target, std::uint64_t times, Times shape) {
  timespec both[2] = {};
  long raw[4] = {};
  if (times != 0) {
    const auto size = shape == Times::utimbuf ? 2 * sizeof(long) : sizeof raw;
    if (const Word result = request.caller.read(times, raw, size); result < 0) return result;
    for (std::size_t i = 0; i < 2; ++i) {
      if (shape == Times::utimbuf) both[i].tv_sec = raw[i];
      else both[i] = {.tv_sec = raw[2 * i], .tv_nsec = raw[2 * i + 1]};
      if (shape != Times::timevals) continue;
      if (both[i].tv_nsec < 0 || both[i].tv_nsec >= 1000000) return -EINVAL;
      both[i].tv_nsec *= 1000;
    }
  }
  Held held;
  if (const Word result = take(request, target, held); result < 0) return result;
  return raw_syscall(SYS_utimensat, AT_FDCWD, word_of(held.path.c_str()), times == 0 ? 0 : word_of(both), 0);
}

Word set_attribute(const Request& request, const Target& target, const Attribute& attribute) {
  static Text<longest_attribute_name> name;
  static char value[largest_attribute];
  if (const Word result = request.caller.read_text(attribute.name, name); result < 0) return result == -ENAMETOOLONG ? -ERANGE : result;
  if (attribute.size > sizeof value) return -E2BIG;
  if (attribute.size != 0)
    if (const Word result = request.caller.read(attribute.value, value, attribute.size); result < 0) return result;
  Held held;
  if (const Word result = take(request, target, held); result < 0) return result;
  return raw_syscall(SYS_setxattr, word_of(held.path.c_str()), word_of(name.c_str()), word_of(value), static_cast<Word>(attribute.size),
                     attribute.flags);
}

Word remove_attribute(const Request& request, const Target& target, std::uint64_t name_address) {
  static Text<longest_attribute_name> name;
  if (const Word result = request.caller.read_text(name_address, name); result < 0) return result == -ENAMETOOLONG ? -ERANGE : result;
  Held held;
  if (const Word result = take(request, target, held); result < 0) return result;
  return raw_syscall(SYS_removexattr, word_of(held.path.c_str()), word_of(name.c_str()));
}

Word truncate(const Request& request, At at, Word length) {
  if (length < 0) return -EINVAL;
  Held held;
  if (const Word result = take(request, {.at = at}, held); result < 0) return result;
  if (S_ISDIR(held.mode)) return -EISDIR;
  if (!S_ISREG(held.mode)) return -EINVAL;
  // Somebody's lease must not keep everybody waiting.
  const Word fd = raw_syscall(SYS_openat, AT_FDCWD, word_of(held.path.c_str()), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return fd;
  const Fd opened(fd);
  const Word result = raw_syscall(SYS_ftruncate, opened.get(), length);
  // The limit is ours as well; the signal that tells of it is the caller's.
  if (result == -EFBIG && request.caller.waits()) raw_syscall(SYS_kill, request.caller.thread(), SIGXFSZ);
  return result;
}

// Inode flags change through a descriptor that was opened only for reading, so the kernel asks for no right.
Word change_flags(const Request& request, int descriptor, unsigned command, std::uint64_t argument) {
  fsxattr extended = {};
  int flags = 0;
  const bool plain = command == FS_IOC_SETFLAGS;
  if (!plain && command != FS_IOC_FSSETXATTR) return -EPERM;
  void* block = plain ? static_cast<void*>(&flags) : &extended;
  if (const Word result = request.caller.read(argument, block, plain ? sizeof flags : sizeof extended); result < 0) return result;
  Held held;
  if (const Word result = take(request, {.at = {.start = descriptor}, .descriptor = true}, held); result < 0) return result;
  if (!S_ISREG(held.mode) && !S_ISDIR(held.mode)) return -ENOTTY;
  const Word fd = raw_syscall(SYS_openat, AT_FDCWD, word_of(held.path.c_str()), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return fd;
  const Fd opened(fd);
  return raw_syscall(SYS_ioctl, opened.get(), command, word_of(block));
}

}  // namespace harn::run::supervisor
