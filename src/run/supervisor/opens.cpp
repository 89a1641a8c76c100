// SPDX-License-Identifier: Apache-2.0
// Opening for the caller. It never waits in here: an open that would block is tried again, so that whoever
// it waits for can be served meanwhile.
#include <fcntl.h>
#include <poll.h>
#include <sys/sysmacros.h>

#include "run/supervisor/calls.h"

namespace harn::run::supervisor {
namespace {

constexpr unsigned temporary = O_TMPFILE & ~static_cast<unsigned>(O_DIRECTORY);

struct Wish {
  unsigned flags = 0;
  unsigned mode = 0;

  bool has(unsigned flag) const { return (flags & flag) != 0; }
  bool writes() const { return (flags & O_ACCMODE) != O_RDONLY || has(O_TRUNC) || has(temporary); }
  bool only_new() const { return has(O_CREAT) && has(O_EXCL); }
};

bool may_open(const Request& request, const Place& place, const Wish& wish) {
  if (is_nameless(place)) return true;
  const auto allowed = request.at(place.path.view());
  if (!wish.writes()) return allowed != Allowed::nothing;
  return allowed == Allowed::changing || (allowed == Allowed::writing && S_ISCHR(place.mode));
}

// Our own entries in /proc are readable to us; they are not to the caller.
bool is_ours(std::string_view path) {
  constexpr std::string_view proc = "/proc/";
  if (!path.starts_with(proc)) return false;
  std::uint64_t number = 0;
  const auto digits = read_number(path.substr(proc.size()), number);
  return digits != 0 && number == static_cast<std::uint64_t>(raw_syscall(SYS_getpid));
}

// /dev/tty is whatever terminal the opener has: ours is the caller's only in the same session.
bool is_terminal_of_another(const Request& request, int directory, const char* name, int flags) {
  struct stat status = {};
  if (raw_syscall(SYS_newfstatat, directory, word_of(name), word_of(&status), flags) < 0) return true;
  if (status.st_rdev != makedev(5, 0)) return false;
  return raw_syscall(SYS_getsid, request.caller.thread()) != raw_syscall(SYS_getsid, 0);
}

Answer give(Fd fd, const Wish& wish, unsigned mode) {
  // Only what is ours is taken back: that it did not wait.
  constexpr unsigned settable = O_APPEND | O_ASYNC | O_DIRECT | O_NOATIME | O_NONBLOCK;
  if (!wish.has(O_NONBLOCK)) raw_syscall(SYS_fcntl, fd.get(), F_SETFL, wish.flags & settable);
  const bool alone = S_ISREG(mode) && (wish.flags & O_ACCMODE) != O_RDONLY;
  return {.value = 0, .descriptor = static_cast<Fd&&>(fd), .on_exec = wish.has(O_CLOEXEC), .alone = alone};
}

Answer failed(Word error) { return {.value = error}; }

// A reader waits until somebody writes; its end is held open meanwhile, because that is what a writer waits for.
Answer give_reader(Fd fd, const Wish& wish) {
  pollfd seen = {.fd = fd.get(), .events = POLLIN, .revents = 0};
  timespec now = {};
  if (raw_syscall(SYS_ppoll, word_of(&seen), 1, word_of(&now), 0, 0) != 0) return give(static_cast<Fd&&>(fd), wish, S_IFIFO);
  return {.descriptor = static_cast<Fd&&>(fd), .later = true};
}

// What the kernel says before it asks for any right.
Word wrong_kind(const Place& place, const Wish& wish) {
  const bool directory = S_ISDIR(place.mode);
  if (place.end == End::name && S_ISLNK(place.mode)) return -ELOOP;
  if (directory && (wish.has(O_CREAT) || (wish.writes() && !wish.has(temporary)))) return -EISDIR;
  return !directory && (place.slash || wish.has(O_DIRECTORY)) ? -ENOTDIR : 0;
}

Answer open_existing(Request& request, Place& place, const Wish& wish) {
  if (const Word wrong = wrong_kind(place, wish); wrong < 0) return failed(wrong);
  if (!may_open(request, place, wish) || is_ours(place.path.view()) || is_guest(request, place)) return failed(refuse());

  ShortText link;
  Fd object;
  const char* name = place.name.c_str();
  int from = place.directory.get();
  unsigned flags = (wish.flags & ~static_cast<unsigned>(O_CREAT | O_EXCL)) | O_NOFOLLOW;
  if (wish.has(temporary)) flags |= wish.flags & O_EXCL;
  if (place.end != End::name || wish.has(temporary)) {
    if (const Word result = hold(place, object); result < 0) return failed(result);
    from = AT_FDCWD;
    name = own_descriptor(object.get(), link).c_str();
    flags &= ~static_cast<unsigned>(O_NOFOLLOW);
  }
  const bool pipe = S_ISFIFO(place.mode);
  if (pipe && !request.decides && !wish.has(O_NONBLOCK)) return {.go_on = true};
  const bool device = S_ISCHR(place.mode);
  if (device && is_terminal_of_another(request, from, name, object ? 0 : AT_SYMLINK_NOFOLLOW)) return failed(-ENXIO);
  const Word fd = raw_syscall(SYS_openat, from, word_of(name), flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, wish.mode);
  const bool waits = !wish.has(O_NONBLOCK) && (fd == -EAGAIN || (fd == -ENXIO && pipe));
  if (waits) return {.later = true};
  if (fd < 0) return failed(fd);
  const bool reader = pipe && (wish.flags & O_ACCMODE) == O_RDONLY && place.end == End::name;
  if (reader && !wish.has(O_NONBLOCK)) return give_reader(Fd(fd), wish);
  return give(Fd(fd), wish, wish.has(temporary) ? S_IFREG : place.mode);
}

Answer open_new(Request& request, Place& place, const Wish& wish) {
  if (!wish.has(O_CREAT)) return failed(-ENOENT);
  if (place.slash) return failed(-EISDIR);
  if (!may_change_name(request, place)) return failed(refuse());
  if (lends_rights(S_IFREG, wish.mode)) return failed(-EPERM);
  if (const Word result = take_umask(request); result < 0) return failed(result);
  const Word fd = raw_syscall(SYS_openat, place.directory.get(), word_of(place.name.c_str()),
                              wish.flags | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, wish.mode);
  return fd < 0 ? failed(fd) : give(Fd(fd), wish, S_IFREG);
}

}  // namespace

Answer open(Request& request, At at, unsigned flags, unsigned mode) {
  Wish wish{.flags = flags, .mode = mode};
  if (request.kept) return give_reader(static_cast<Fd&&>(request.kept), wish);
  if (wish.has(O_PATH)) return failed(-EINVAL);
  if (wish.has(temporary)) {
    if ((flags & O_TMPFILE) != O_TMPFILE || wish.has(O_CREAT) || (flags & O_ACCMODE) == O_RDONLY) return failed(-EINVAL);
    if (lends_rights(S_IFREG, mode)) return failed(-EPERM);
    if (const Word result = take_umask(request); result < 0) return failed(result);
  }
  Place place;
  const auto last = wish.has(O_NOFOLLOW) || wish.only_new() ? Last::keep : Last::follow;
  if (const Word result = find(request, at, last, place); result < 0) return failed(result);
  if (place.exists && wish.only_new()) return failed(-EEXIST);
  return place.exists ? open_existing(request, place, wish) : open_new(request, place, wish);
}

}  // namespace harn::run::supervisor
