// SPDX-License-Identifier: Apache-2.0
// Building a network of its own: loopback, routes that lead everything back inside, and sockets there that
// somebody outside will serve.
#include <errno.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "run/child/replay.h"

namespace harn::run::child {
namespace {

Word close_after(Word fd, Word result) {
  raw_syscall(SYS_close, fd);
  return result;
}

Word raise_loopback() {
  const Word fd = raw_syscall(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return fd;
  ifreq request = {};
  request.ifr_name[0] = 'l';
  request.ifr_name[1] = 'o';
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  return close_after(fd, raw_syscall(SYS_ioctl, fd, SIOCSIFFLAGS, word_of(&request)));
}

// Left as it is: clearing it would be a library call.
struct Refusal {
  nlmsghdr header;
  nlmsgerr answer;
  char echo[512];
};

Word ask_netlink(const Step& step) {
  const Word fd = raw_syscall(SYS_socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, step.number);
  if (fd < 0) return fd;
  const Word sent = raw_syscall(SYS_sendto, fd, word_of(step.pointer), static_cast<Word>(step.mask), 0, 0, 0);
  if (sent < 0) return close_after(fd, sent);
  Refusal reply;
  const Word got = close_after(fd, raw_syscall(SYS_recvfrom, fd, word_of(&reply), sizeof reply, 0, 0, 0));
  if (got < 0) return got;
  const bool answered = got >= static_cast<Word>(offsetof(Refusal, answer) + sizeof(int)) && reply.header.nlmsg_type == NLMSG_ERROR;
  if (!answered) return -EPROTO;
  const int error = reply.answer.error;
  const bool switched_off = error == -EACCES || error == -EAFNOSUPPORT || error == -EOPNOTSUPP;
  return step.more == 1 && switched_off ? 0 : error;
}

Word open_gate(Launch& launch, const Step& step) {
  if (launch.gate_count >= most_gates) return -EMFILE;
  const auto* calls = static_cast<const Call*>(step.pointer);
  Word first = -1;
  for (std::uint64_t i = 0; i < step.mask; ++i) {
    const auto argument = [&](int index) {
      const auto value = calls[i].arguments[index];
      return value == first_answer ? first : static_cast<Word>(value);
    };
    const Word answer = raw_syscall(calls[i].number, argument(0), argument(1), argument(2), argument(3), argument(4));
    if (answer < 0) return answer;
    if (i == 0) first = answer;
  }
  launch.gates[launch.gate_count++] = static_cast<int>(first);
  return 0;
}

// struct cmsghdr with what follows it.
struct Rights {
  unsigned long length;
  int level;
  int type;
  int fds[most_gates];
};

Word send_gates(Launch& launch, const Step& step) {
  Rights rights;
  rights.length = offsetof(Rights, fds) + launch.gate_count * sizeof(int);
  rights.level = SOL_SOCKET;
  rights.type = SCM_RIGHTS;
  for (unsigned i = 0; i < launch.gate_count; ++i) rights.fds[i] = launch.gates[i];
  iovec part = {.iov_base = const_cast<void*>(step.pointer), .iov_len = step.mask};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = &rights;
  message.msg_controllen = rights.length;
  const Word sent = raw_syscall(SYS_sendmsg, step.number, word_of(&message), MSG_NOSIGNAL);
  for (unsigned i = 0; i < launch.gate_count; ++i) raw_syscall(SYS_close, launch.gates[i]);
  launch.gate_count = 0;
  return sent < 0 ? sent : 0;
}

}  // namespace

Word build_network(Launch& launch, const Step& step) noexcept {
  switch (step.op) {
    case Op::raise_loopback: return raise_loopback();
    case Op::ask_netlink: return ask_netlink(step);
    case Op::open_gate: return open_gate(launch, step);
    case Op::send_gates: return send_gates(launch, step);
    default: return -EINVAL;
  }
}

}  // namespace harn::run::child
