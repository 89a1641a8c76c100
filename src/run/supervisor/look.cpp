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

bool is_there(const Caller& caller, int start, const PathText& path) {
  const auto text = path.view();
  if (text.empty()) return true;  // an error of the caller's own, or the descriptor itself
  struct stat status = {};
  Fd directory;
  int from = AT_FDCWD;
  if (text.front() != '/') {
    if (caller.open_directory(start, directory) < 0) return true;
    from = directory.get();
  } else if (text.starts_with("/proc/")) {
    return true;  // "self" would be us
  }
  return raw_syscall(SYS_newfstatat, from, word_of(path.c_str()), word_of(&status), AT_SYMLINK_NOFOLLOW) == 0;
}

void tell(const Look& look, Wanted wanted, const Place& place, Word error) {
  if (look.found == nullptr) return look.teller.tell(look.caller, look.call, wanted, place.path.view(), error);
  look.found->wanted = wanted;
  look.found->path.clear().add(place.path.view());
  look.found->error = error;
}

// Hot: most that is asked about is there, and one call sees it.
void look_for(const Look& look, At at) {
  static PathText path;
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
  static PathText path;
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
  PathText path;
  for (std::size_t i = path_at; i < size && address[i] != '\0'; ++i) path.add({address + i, 1});
  Place place;
  Word result = walk(look.caller, AT_FDCWD, path.view(), Last::follow, place);
  if (result == 0 && !place.exists) result = -ENOENT;
  if (result == 0) look.teller.record(look.caller, look.call, Wanted::reaching, place.path.view());
  if (result < 0 || look.rules.at(place.path.view()) == Allowed::nothing) tell(look, Wanted::reaching, place, result);
}

}  // namespace

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
