// SPDX-License-Identifier: Apache-2.0
// Sending for the caller, where a message may name whom it is for. Message, address and what is handed over with
// them are copied once; nothing waits in here.
#include <fcntl.h>
#include <signal.h>
#include <sys/uio.h>

#include "run/supervisor/sockets.h"

namespace harn::run::supervisor {
namespace {

constexpr std::size_t largest_message = 256 * 1024;  // more than a socket takes at once, unless an administrator raised that
constexpr std::size_t largest_control = 4096;
constexpr unsigned most_parts = 1024;  // UIO_MAXIOV
constexpr unsigned most_messages = 64;
constexpr int most_descriptors = 253;  // SCM_MAX_FD

char text[largest_message];
std::size_t text_size = 0;
alignas(cmsghdr) char control[largest_control];
std::size_t control_size = 0;
int handed[most_descriptors];  // to be closed
int handed_count = 0;

void forget() {
  while (handed_count > 0) raw_syscall(SYS_close, handed[--handed_count]);
  text_size = control_size = 0;
}

// A stream takes what it can; a message is whole or none.
Word read_text(const Request& request, const Socket& socket, std::uint64_t from, std::uint64_t size) {
  const std::size_t room = sizeof text - text_size;
  if (size > room && socket.type != SOCK_STREAM) return -EMSGSIZE;
  const std::size_t wanted = size < room ? size : room;
  if (wanted == 0) return 0;
  if (const Word result = request.caller.read(from, text + text_size, wanted); result < 0) return result;
  text_size += wanted;
  return 0;
}

Word read_parts(const Request& request, const Socket& socket, const msghdr& message) {
  static iovec parts[most_parts];
  if (message.msg_iovlen > most_parts) return -EMSGSIZE;
  if (message.msg_iovlen == 0) return 0;
  const auto from = reinterpret_cast<std::uint64_t>(message.msg_iov);
  if (const Word result = request.caller.read(from, parts, message.msg_iovlen * sizeof(iovec)); result < 0) return result;
  for (std::size_t i = 0; i < message.msg_iovlen; ++i)
    if (const Word result = read_text(request, socket, reinterpret_cast<std::uint64_t>(parts[i].iov_base), parts[i].iov_len); result < 0)
      return result;
  return 0;
}

// Descriptors are the caller's numbers: each is copied, and ours is sent instead.
Word translate_descriptors(const Request& request, char* numbers, std::size_t size) {
  for (std::size_t at = 0; at + sizeof(int) <= size; at += sizeof(int)) {
    int number = -1;
    __builtin_memcpy(&number, numbers + at, sizeof number);
    if (handed_count == most_descriptors) return -EINVAL;
    Fd copy;
    if (const Word result = request.caller.copy(number, copy); result < 0) return result;
    number = handed[handed_count++] = copy.release();
    __builtin_memcpy(numbers + at, &number, sizeof number);
  }
  return 0;
}

// Who somebody is the kernel lets him say only himself, so no credentials can be sent on behalf.
Word read_control(const Request& request, const Socket& socket, const msghdr& message) {
  // Of packets on the host's network, notes could say where they go.
  if (message.msg_controllen == 0 || (is_led(request, socket) && socket.type != SOCK_STREAM)) return 0;
  if (message.msg_controllen > sizeof control) return -ENOBUFS;
  control_size = message.msg_controllen;
  if (const Word result = request.caller.read(reinterpret_cast<std::uint64_t>(message.msg_control), control, control_size); result < 0)
    return result;
  for (std::size_t at = 0; at + sizeof(cmsghdr) <= control_size;) {
    cmsghdr head = {};
    __builtin_memcpy(&head, control + at, sizeof head);
    if (head.cmsg_len < sizeof head || head.cmsg_len > control_size - at) return -EINVAL;
    const bool local = socket.family == AF_UNIX && head.cmsg_level == SOL_SOCKET;
    if (local && head.cmsg_type == SCM_CREDENTIALS) return -EPERM;
    if (local && head.cmsg_type == SCM_RIGHTS)
      if (const Word result = translate_descriptors(request, control + at + sizeof head, head.cmsg_len - sizeof head); result < 0)
        return result;
    at += CMSG_ALIGN(head.cmsg_len);
  }
  return 0;
}

Answer transmit(const Request& request, const Socket& socket, const Address& address, unsigned flags) {
  iovec part = {.iov_base = text, .iov_len = text_size};
  msghdr message = {};
  if (address.size != 0) {
    message.msg_name = const_cast<char*>(address.bytes);
    message.msg_namelen = static_cast<socklen_t>(address.size);
  }
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control_size != 0 ? control : nullptr;
  message.msg_controllen = control_size;
  // Not without copying: the next message is put together in the same place.
  const unsigned how = (flags & ~static_cast<unsigned>(MSG_ZEROCOPY)) | MSG_DONTWAIT | MSG_NOSIGNAL;
  const Word result = raw_syscall(SYS_sendmsg, socket.fd.get(), word_of(&message), how);
  if (result == -EAGAIN && (flags & MSG_DONTWAIT) == 0 && would_wait(socket)) return {.later = true};
  // The signal that tells of it is the caller's.
  if (result == -EPIPE && (flags & MSG_NOSIGNAL) == 0 && socket.type == SOCK_STREAM && request.caller.waits())
    raw_syscall(SYS_tkill, request.caller.thread(), SIGPIPE);
  return {.value = result, .counts = result > 0};
}

Answer send_one(const Request& request, const Socket& socket, const msghdr& message, unsigned flags) {
  forget();
  Address address;
  const auto name = reinterpret_cast<std::uint64_t>(message.msg_name);
  // A length without a place, and a place without a length, both mean nobody; more than the largest is cut, as the kernel does.
  const std::uint64_t size = message.msg_namelen < sizeof address.bytes ? message.msg_namelen : sizeof address.bytes;
  if (message.msg_namelen > 0x7fffffffu) return {.value = -EINVAL};
  if (name != 0)
    if (const Word result = read_address(request, name, size, address); result < 0) return {.value = result};
  if (const Word result = read_parts(request, socket, message); result < 0) return {.value = result};
  if (const Word result = read_control(request, socket, message); result < 0) return {.value = result};
  if (const Word result = aim(request, socket, address); result < 0) return {.value = result};
  return transmit(request, socket, address, flags);
}

}  // namespace

Answer send_to(const Request& request, const Message& call) {
  Socket socket;
  if (const Word result = take_socket(request, call.descriptor, socket); result < 0) return {.value = result};
  forget();
  Address address;
  if (const Word result = read_address(request, call.address, call.address_size, address); result < 0) return {.value = result};
  if (const Word result = read_text(request, socket, call.text, call.size); result < 0) return {.value = result};
  if (const Word result = aim(request, socket, address); result < 0) return {.value = result};
  return transmit(request, socket, address, call.flags);
}

Answer send_message(const Request& request, int descriptor, std::uint64_t from, unsigned flags) {
  Socket socket;
  msghdr message = {};
  if (const Word result = take_socket(request, descriptor, socket); result < 0) return {.value = result};
  if (const Word result = request.caller.read(from, &message, sizeof message); result < 0) return {.value = result};
  auto answer = send_one(request, socket, message, flags);
  forget();
  return answer;
}

Answer send_messages(const Request& request, int descriptor, std::uint64_t from, unsigned count, unsigned flags) {
  Socket socket;
  if (const Word result = take_socket(request, descriptor, socket); result < 0) return {.value = result};
  unsigned sent = 0;
  for (; sent < count && sent < most_messages; ++sent) {
    mmsghdr one = {};
    const auto at = from + sent * sizeof one;
    auto answer = Answer{.value = request.caller.read(at, &one, sizeof one)};
    if (answer.value == 0) answer = send_one(request, socket, one.msg_hdr, flags);
    forget();
    if (answer.later || answer.value < 0) {
      if (sent == 0) return answer;
      break;
    }
    const auto size = static_cast<unsigned>(answer.value);
    if (request.caller.write(at + offsetof(mmsghdr, msg_len), &size, sizeof size) < 0) break;
  }
  return {.value = sent, .counts = sent > 0};
}

}  // namespace harn::run::supervisor
