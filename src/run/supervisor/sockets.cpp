// SPDX-License-Identifier: Apache-2.0
// Connecting and binding for the caller, on a copy of its descriptor. A name leads to the socket the walk ended
// at, whoever changes it meanwhile.
#include "run/supervisor/sockets.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/time.h>
#include <sys/un.h>

namespace harn::run::supervisor {
namespace {

constexpr std::size_t path_at = offsetof(sockaddr_un, sun_path);

// The caller may take back at any moment that its socket does not wait. A signal that comes again and again
// brings us out of there, wherever it finds us.
class Guard {
 public:
  Guard() { set(2000); }
  ~Guard() { set(0); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  static void set(long microseconds) {
    const itimerval time = {.it_interval = {.tv_sec = 0, .tv_usec = microseconds}, .it_value = {.tv_sec = 0, .tv_usec = microseconds}};
    raw_syscall(SYS_setitimer, ITIMER_REAL, word_of(&time), 0);
  }
};

bool is_local(const Socket& socket, const Address& address) {
  return socket.family == AF_UNIX && family_of(address) == AF_UNIX && address.size > path_at;
}
bool is_abstract(const Address& address) { return address.bytes[path_at] == '\0'; }

// As the kernel reads it: to the first zero, or to the end.
std::string_view path_of(const Address& address) {
  std::size_t end = path_at;
  while (end < address.size && address.bytes[end] != '\0') ++end;
  return {address.bytes + path_at, end - path_at};
}

Word refuse_abstract(const Request& request, const Address& address) {
  if (request.trace != nullptr) request.trace->add({address.bytes, address.size});
  return -EPERM;
}

bool may_reach(const Request& request, const Place& place, const struct stat& status) {
  auto rest = request.reach.sockets;
  while (!rest.empty()) {
    const auto end = rest.find('\0');
    // Where the command may move names, a name says nothing; those sockets were held before it began.
    if (rest.substr(0, end) == place.path.view() && request.rules.at(place.path.view()) != Allowed::changing) return true;
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return request.reach.bound->has(status);
}

void point_at_object(Address& address) {
  ShortText text;
  own_descriptor(address.object.get(), text);
  __builtin_memset(address.bytes, 0, sizeof address.bytes);
  const sa_family_t family = AF_UNIX;
  __builtin_memcpy(address.bytes, &family, sizeof family);
  __builtin_memcpy(address.bytes + path_at, text.c_str(), text.view().size());
  address.size = path_at + text.view().size() + 1;
}

Word option(int fd, int name, int& value) {
  unsigned size = sizeof value;
  return raw_syscall(SYS_getsockopt, fd, SOL_SOCKET, name, word_of(&value), word_of(&size));
}

// A stranger's answer may take long: the socket is kept, and looked at again.
Answer wait_for_answer(Fd socket) {
  pollfd seen = {.fd = socket.get(), .events = POLLOUT, .revents = 0};
  const timespec now = {};
  if (raw_syscall(SYS_ppoll, word_of(&seen), 1, word_of(&now), 0, 0) == 0) return {.descriptor = static_cast<Fd&&>(socket), .later = true};
  int error = 0;
  if (const Word result = option(socket.get(), SO_ERROR, error); result < 0) return {.value = result};
  return {.value = -error};
}

}  // namespace

Word connect_without_waiting(const Socket& socket, const Address& address) {
  const Word flags = raw_syscall(SYS_fcntl, socket.fd.get(), F_GETFL);
  const bool waits = (flags & O_NONBLOCK) == 0;
  if (waits) raw_syscall(SYS_fcntl, socket.fd.get(), F_SETFL, flags | O_NONBLOCK);
  Word result = 0;
  {
    const Guard guard;
    result = raw_syscall(SYS_connect, socket.fd.get(), word_of(address.bytes), static_cast<Word>(address.size));
  }
  if (waits) raw_syscall(SYS_fcntl, socket.fd.get(), F_SETFL, flags);
  return result;
}

namespace {

// The name is kept as the caller wrote it, because others read it from the socket. It must lead us where the walk
// has led; what it says about processes would mean ours.
Word bind_by_text(const Request& request, const Socket& socket, const Address& address, const Place& place) {
  const auto path = path_of(address);
  PathText above;
  const auto slash = path.rfind('/');
  above.add(slash == std::string_view::npos ? "." : path.substr(0, slash + 1));
  Fd start;
  if (path.front() != '/')
    if (const Word result = request.caller.open_directory(AT_FDCWD, start); result < 0) return result;
  if (start && raw_syscall(SYS_fchdir, start.get()) < 0) return refuse();
  struct stat ours = {};
  struct stat decided = {};
  const bool same = raw_syscall(SYS_newfstatat, AT_FDCWD, word_of(above.c_str()), word_of(&ours), 0) == 0 &&
                    raw_syscall(SYS_newfstatat, place.directory.get(), word_of(""), word_of(&decided), AT_EMPTY_PATH) == 0 &&
                    ours.st_dev == decided.st_dev && ours.st_ino == decided.st_ino;
  Word result = refuse();
  if (same) result = raw_syscall(SYS_bind, socket.fd.get(), word_of(address.bytes), static_cast<Word>(address.size));
  raw_syscall(SYS_chdir, word_of("/"));
  return result;
}

Word bind_name(const Request& request, const Socket& socket, const Address& address) {
  if (address.size > sizeof(sockaddr_un)) return -EINVAL;
  Place place;
  const Word found = walk(request.caller, AT_FDCWD, path_of(address), Last::keep, place);
  request.note(place);
  if (found < 0) return found;
  if (place.exists) return -EADDRINUSE;
  if (place.slash) return -ENOENT;
  if (!may_change_name(request, place)) return refuse();
  if (!request.reach.bound->has_room()) return -ENOBUFS;
  if (const Word result = take_umask(request); result < 0) return result;
  if (const Word result = bind_by_text(request, socket, address, place); result < 0) return result;
  Fd made(raw_syscall(SYS_openat, place.directory.get(), word_of(place.name.c_str()), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (made) request.reach.bound->add(static_cast<Fd&&>(made));
  return 0;
}

}  // namespace

Word take_socket(const Request& request, int descriptor, Socket& out) {
  if (const Word result = request.caller.copy(descriptor, out.fd); result < 0) return result;
  if (const Word result = option(out.fd.get(), SO_DOMAIN, out.family); result < 0) return result;
  return option(out.fd.get(), SO_TYPE, out.type);
}

Word read_address(const Request& request, std::uint64_t from, std::uint64_t size, Address& out) {
  if (size > sizeof out.bytes) return -EINVAL;
  out.size = size;
  return size == 0 ? 0 : request.caller.read(from, out.bytes, size);
}

bool would_wait(const Socket& socket) { return (raw_syscall(SYS_fcntl, socket.fd.get(), F_GETFL) & O_NONBLOCK) == 0; }

Word aim(const Request& request, const Socket& socket, Address& address) {
  if (is_led(request, socket)) return lead_message(request, socket, address);
  if (!is_local(socket, address)) return 0;
  if (address.size > sizeof(sockaddr_un)) return -EINVAL;
  if (is_abstract(address)) return request.reach.abstract_names ? 0 : refuse_abstract(request, address);
  Place place;
  const Word found = walk(request.caller, AT_FDCWD, path_of(address), Last::follow, place);
  request.note(place);
  if (found < 0) return found;
  if (!place.exists) return -ENOENT;
  if (!S_ISSOCK(place.mode)) return -ECONNREFUSED;
  if (const Word result = hold(place, address.object); result < 0) return result;
  struct stat status = {};
  if (raw_syscall(SYS_newfstatat, address.object.get(), word_of(""), word_of(&status), AT_EMPTY_PATH) < 0) return refuse();
  if (!S_ISSOCK(status.st_mode) || !may_reach(request, place, status)) return refuse();
  point_at_object(address);
  return 0;
}

Answer connect(Request& request, int descriptor, std::uint64_t from, unsigned size) {
  if (request.kept) return wait_for_answer(static_cast<Fd&&>(request.kept));
  Socket socket;
  Address address;
  if (const Word result = take_socket(request, descriptor, socket); result < 0) return {.value = result};
  if (const Word result = read_address(request, from, size, address); result < 0) return {.value = result};
  if (is_led(request, socket)) return {.value = lead_connection(request, socket, address)};
  const bool abstract = is_local(socket, address) && is_abstract(address);
  if (const Word result = aim(request, socket, address); result < 0) return {.value = result};
  const bool waits = would_wait(socket);
  const Word result = connect_without_waiting(socket, address);
  if (abstract && result == -EPERM) refuse_abstract(request, address);
  if (waits && result == -EINPROGRESS) return wait_for_answer(static_cast<Fd&&>(socket.fd));
  if (result == -EINTR || (waits && result == -EAGAIN && socket.family == AF_UNIX)) return {.later = true};
  return {.value = result};
}

Word share_no_port(const Request& request, int descriptor) {
  Socket socket;
  return take_socket(request, descriptor, socket);
}

Word listen(const Request& request, int descriptor, int backlog) {
  Socket socket;
  if (const Word result = take_socket(request, descriptor, socket); result < 0) return result;
  if (is_led(request, socket)) return refuse();  // it would be the host's port
  return raw_syscall(SYS_listen, socket.fd.get(), backlog);
}

Word bind(const Request& request, int descriptor, std::uint64_t from, unsigned size) {
  Socket socket;
  Address address;
  if (const Word result = take_socket(request, descriptor, socket); result < 0) return result;
  if (const Word result = read_address(request, from, size, address); result < 0) return result;
  if (is_led(request, socket)) return lead_binding(address);
  // Without a name the kernel makes up an abstract one.
  const bool unnamed = socket.family == AF_UNIX && family_of(address) == AF_UNIX && address.size <= path_at;
  if (unnamed && !request.reach.abstract_names) return -EPERM;
  if (is_local(socket, address)) {
    if (!is_abstract(address)) return bind_name(request, socket, address);
    if (!request.reach.abstract_names) return refuse_abstract(request, address);
  }
  return raw_syscall(SYS_bind, socket.fd.get(), word_of(address.bytes), static_cast<Word>(address.size));
}

}  // namespace harn::run::supervisor
