// SPDX-License-Identifier: Apache-2.0
// Calls that go on in the caller whatever is seen here: the layers around it decide, and may decide about
// another path than this one if the caller rewrites it. Only the explanation would be wrong then.
#include "run/supervisor/look.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace harn::run::supervisor {
namespace {

// The path as we would have to say it, in one text: what the kernel then follows at once, name by name on descriptors costs
// several times as much. Good for a look only.
using SeenText = Text<longest_path + ShortText::room()>;

const SeenText& as_seen_by_us(const Caller& caller, int start, std::string_view path) {
  static SeenText seen;
  seen.clear();
  if (path.front() != '/') {
    seen.add("/proc/").add_number(caller.thread());
    if (start == AT_FDCWD) seen.add("/cwd/");
    else seen.add("/fd/").add_number(static_cast<std::uint64_t>(start)).add("/");
  }
  seen.add(path);
  return seen;
}

bool leads_to_itself(std::string_view path) { return path.starts_with("/proc/"); }  // "self" would be us

bool is_there(const Caller& caller, int start, const PathText& path) {
  if (path.view().empty() || leads_to_itself(path.view())) return true;  // an error of the caller's own, or the descriptor itself
  struct stat status = {};
  return raw_syscall(SYS_newfstatat, AT_FDCWD, word_of(as_seen_by_us(caller, start, path.view()).c_str()), word_of(&status),
                     AT_SYMLINK_NOFOLLOW) == 0;
}

void tell(const Look& look, Wanted wanted, const Place& place, Word error) {
  if (look.found == nullptr) return look.teller.tell(look.caller, look.call, wanted, place.path.view(), error);
  look.found->wanted = wanted;
  look.found->path.clear().add(place.path.view());
  look.found->error = error;
}

PathText path;  // of the call that is looked at

// Hot: most that is asked about is there, and one call sees it.
void look_for(const Look& look, At at) {
  if (look.caller.read_text(at.path, path) < 0) return;
  if (is_there(look.caller, at.start, path) && (!look.teller.records() || path.view().empty())) return;
  Place place;
  const Word result = walk(look.caller, at.start, path.view(), Last::keep, place);
  if (result == 0 && place.exists) return look.teller.record(look.caller, look.call, Wanted::finding, place.path.view());
  const Word error = result < 0 ? result : -ENOENT;
  const bool refused = error == -EACCES || error == -EPERM;
  if (refused || look.rules.at(place.path.view()) == Allowed::nothing) tell(look, Wanted::finding, place, error);
}

void look_at_program(const Look& look, At at) {
  if (look.caller.read_text(at.path, path) < 0 || path.view().empty()) return;
  Place place;
  Word result = walk(look.caller, at.start, path.view(), Last::follow, place);
  if (result == 0 && !place.exists) result = -ENOENT;
  if (result == 0) {
    Fd object;
    ShortText link;
    if (hold(place, object) < 0) return;
    result = raw_syscall(SYS_faccessat, AT_FDCWD, word_of(own_descriptor(object.get(), link).c_str()), X_OK);
  }
  if (result == 0) look.teller.record(look.caller, look.call, Wanted::running, place.path.view());
  // Whether it can be started where another layer judges that, the launcher knows.
  if (look.rules.at(place.path.view()) == Allowed::nothing || result == -EACCES)
    look.teller.tell(look.caller, look.call, Wanted::running, place.path.view(), result);
}

void look_at_address(const Look& look, std::uint64_t from, std::size_t size) {
  alignas(sockaddr_storage) char address[sizeof(sockaddr_storage)] = {};
  if (size < sizeof(sa_family_t) || size > sizeof address || look.caller.read(from, address, size) < 0) return;
  sa_family_t family = 0;
  __builtin_memcpy(&family, address, sizeof family);
  if (family == AF_INET || family == AF_INET6) return look.teller.tell(look.caller, look.call, Wanted::reaching, {address, size}, 0);
  constexpr auto path_at = __builtin_offsetof(sockaddr_un, sun_path);
  if (family != AF_UNIX || size <= path_at) return;
  if (address[path_at] == '\0') return look.teller.tell(look.caller, look.call, Wanted::reaching, {address, size}, 0);
  path.clear();
  for (std::size_t i = path_at; i < size && address[i] != '\0'; ++i) path.add({address + i, 1});
  Place place;
  Word result = walk(look.caller, AT_FDCWD, path.view(), Last::follow, place);
  if (result == 0 && !place.exists) result = -ENOENT;
  if (result == 0) look.teller.record(look.caller, look.call, Wanted::reaching, place.path.view());
  if (result < 0 || look.rules.at(place.path.view()) == Allowed::nothing) tell(look, Wanted::reaching, place, result);
}

bool opens_to_read(const seccomp_data& call, At& at, unsigned& flags) {
  switch (call.nr) {
#if defined(SYS_open)
    case SYS_open:
      at = {AT_FDCWD, call.args[0]};
      flags = static_cast<unsigned>(call.args[1]);
      break;
#endif
    case SYS_openat:
      at = {static_cast<int>(call.args[0]), call.args[1]};
      flags = static_cast<unsigned>(call.args[2]);
      break;
    default: return false;
  }
  constexpr unsigned more = O_ACCMODE | O_CREAT | O_TRUNC | O_PATH | (O_TMPFILE & ~static_cast<unsigned>(O_DIRECTORY));
  return (flags & more) == 0;
}

}  // namespace

bool can_read(const Caller& caller, const seccomp_data& call) {
  At at;
  unsigned flags = 0;
  if (!opens_to_read(call, at, flags) || caller.read_text(at.path, path) < 0) return false;
  if (path.view().empty() || leads_to_itself(path.view()) || (path.view().front() != '/' && at.start < 0 && at.start != AT_FDCWD))
    return false;
  const auto& seen = as_seen_by_us(caller, at.start, path.view());
  const unsigned kept = flags & (O_NOFOLLOW | O_DIRECTORY);
  if ((flags & O_DIRECTORY) == 0) {
    struct stat status = {};
    const Word links = (flags & O_NOFOLLOW) != 0 ? AT_SYMLINK_NOFOLLOW : 0;
    if (raw_syscall(SYS_newfstatat, AT_FDCWD, word_of(seen.c_str()), word_of(&status), links) < 0) return false;
    if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return false;
  }
  return static_cast<bool>(
      Fd(raw_syscall(SYS_openat, AT_FDCWD, word_of(seen.c_str()), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | kept)));
}

void look(const Look& look) {
  const auto* args = look.call.args;
  const auto at = [&](int index) { return At{static_cast<int>(args[index]), args[index + 1]}; };
  const auto here = [&] { return At{AT_FDCWD, args[0]}; };
  switch (look.call.nr) {
    case SYS_newfstatat:
    case SYS_statx:
    case SYS_faccessat:
    case 439:  // faccessat2
    case SYS_readlinkat: return look_for(look, at(0));
    case SYS_chdir: return look_for(look, here());
    case SYS_execve: return look_at_program(look, here());
    case SYS_execveat: return look_at_program(look, at(0));
    case SYS_connect: return look_at_address(look, args[1], static_cast<unsigned>(args[2]));
#if defined(SYS_open)
    case SYS_stat:
    case SYS_lstat:
    case SYS_access:
    case SYS_readlink: return look_for(look, here());
#endif
    default: return;
  }
}

}  // namespace harn::run::supervisor
